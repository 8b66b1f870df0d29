"""Thinking: the settings of a request, and the thoughts that a conversation must have, signed and bound to it.

A signature proves that the model had a thought, and after which conversation. It carries no secret: a test can write
one by hand, and the model accepts it. With a model that binds thoughts, each is valid only after its own conversation.
"""

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from covey.core.json import Json, JsonObject
from covey.testing.models.anthropic_messages.abilities import Abilities
from covey.testing.models.anthropic_messages.conversation import Block, Speech
from covey.testing.models.request import objects
from covey.testing.models.validation import Cursor

BINDING_BETA: Final = "thinking-binding-controls-2026-08-01"
THOUGHTS: Final = ("thinking", "redacted_thinking")
_LEAST_BUDGET: Final = 1024


class Thinking(NamedTuple):
    """The setting for thinking in a request."""

    mode: str
    """A value of `thinking.type`, such as `disabled`."""
    omits_text: bool = False
    drops_unbound: bool = False
    """True if thoughts from another conversation are dropped instead of refused."""

    @property
    def is_on(self) -> bool:
        return self.mode != "disabled"


def read_thinking(body: Cursor, able: Abilities, betas: Sequence[str]) -> Thinking:
    """Read the request's setting for thinking. Refuse a setting that its model does not accept."""
    config = body.get("thinking")
    if config is None:
        return Thinking("adaptive" if able.thinks_unasked else "disabled", able.omits_thoughts)
    mode = config.need("type").one_of("enabled", "disabled", "adaptive", "between_tools")
    if mode not in able.thinking:
        body.refuse(_not_taken(mode, able))
    _check_fields(config, mode, betas)
    if mode in {"disabled", "between_tools"}:
        _check_effort(body, able)
        return Thinking(mode)
    display = config.get("display")
    binding = config.get("block_binding")
    behaviour = binding.need("prefix_mismatch_behavior").one_of("error", "drop_block") if binding else "error"
    omits = able.omits_thoughts if display is None else display.one_of("summarized", "omitted", "updates") == "omitted"
    return Thinking(mode, omits, behaviour == "drop_block")


def _check_fields(config: Cursor, mode: str, betas: Sequence[str]) -> None:
    names = {"type"}
    if mode in {"enabled", "adaptive"}:
        names |= {"display", "block_binding"} if BINDING_BETA in betas else {"display"}
    if mode == "enabled":
        names.add("budget_tokens")
    config.only(names)
    if mode == "enabled":
        budget = config.need("budget_tokens")
        if budget.integer() < _LEAST_BUDGET:
            budget.refuse(f"Input should be greater than or equal to {_LEAST_BUDGET}")


def _not_taken(mode: str, able: Abilities) -> str:
    match mode:
        case "adaptive":
            return "adaptive thinking is not supported on this model"
        case "between_tools":
            return '"thinking.type.between_tools" is not supported for this model.'
        case "disabled" if "between_tools" in able.thinking:
            return (
                'To turn thinking off on this model, send "thinking": {"type": "between_tools"} '
                'instead of {"type": "disabled"}.'
            )
        case _:
            return (
                f'"thinking.type.{mode}" is not supported for this model. Use "thinking.type.adaptive" and '
                '"output_config.effort" to control thinking behavior.'
            )


def _check_effort(body: Cursor, able: Abilities) -> None:
    output = body.get("output_config")
    effort = output.get("effort") if output else None
    if effort and able.must_be_calm_to_be_quiet and effort.text() in {"xhigh", "max"}:
        body.refuse(
            f"output_config.effort '{effort.text()}' is not supported when thinking is disabled on this model. "
            "Use effort 'high' or below, or enable thinking."
        )


def check_budget(body: Cursor, thinking: Thinking, *, is_tool_forced: bool) -> None:
    """Refuse settings that conflict with a thinking budget."""
    if thinking.mode != "enabled":
        return
    if body.need("max_tokens").integer() <= body.need("thinking").need("budget_tokens").integer():
        body.refuse("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if is_tool_forced:
        body.refuse("Thinking may not be enabled when tool_choice forces tool use.")
    temperature = body.get("temperature")
    if temperature and temperature.number() != 1:
        body.refuse("`temperature` may only be set to 1 when thinking is enabled.")


def check_thoughts(speeches: Sequence[Speech], thinking: Thinking, issued: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse a conversation that lacks required thoughts. `issued` has the thoughts with each tool use."""
    last = speeches[-1]
    if not thinking.is_on:
        if last.role == "assistant" and last.of(*THOUGHTS):
            last.at.refuse(
                "When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. "
                "To use thinking blocks, enable `thinking` in your request."
            )
        return
    first = _begin_of_last_turn(speeches)
    if thinking.mode == "enabled" and first and first.blocks and first.blocks[0].type not in THOUGHTS:
        first.blocks[0].at.refuse(
            f"Expected `thinking` or `redacted_thinking`, but found `{first.blocks[0].type}`. When `thinking` is "
            "enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of "
            "`tool_use` and `tool_result` blocks). To avoid this requirement, disable `thinking`."
        )
    _check_latest(speeches, issued)


def _begin_of_last_turn(speeches: Sequence[Speech]) -> Speech | None:
    """Return the first message of the assistant's turn that the answer continues. Tool results do not end a turn."""
    begin = None
    for speech in reversed(speeches):
        if speech.role == "assistant":
            begin = speech
        elif speech.role == "user" and not speech.of("tool_result"):
            break
    return begin


def _check_latest(speeches: Sequence[Speech], issued: Mapping[str, tuple[str, ...]]) -> None:
    latest = next((speech for speech in reversed(speeches) if speech.role == "assistant"), None)
    if latest is None:
        return
    signatures = tuple(block.field("signature") for block in latest.of("thinking"))
    for use in latest.of("tool_use"):
        if signatures != issued.get(use.field("id"), signatures):
            latest.at.refuse(
                "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
                "These blocks must remain as they were in the original response."
            )


_MARK = "scripted"


class Signature(NamedTuple):
    """Digests of the signed parts. With an empty `prefix`, the conversation is not checked."""

    thought: str
    prefix: str = ""
    """The digest of everything that was sent before the thought."""
    previous: str = ""
    """The digest of the signature of the thought before this one."""

    def encoded(self) -> str:
        """Return the signature as sent over the wire."""
        return base64.b64encode(":".join((_MARK, *self)).encode()).decode()


def decoded(text: str) -> Signature | None:
    """Decode a signature. Return None if the text is no signature."""
    try:
        mark, *fields = base64.b64decode(text, validate=True).decode().split(":")
    except (binascii.Error, ValueError):
        return None
    return Signature(*fields) if mark == _MARK and len(fields) == len(Signature._fields) else None


def thinking_signature(thinking: str) -> str:
    """Sign a thought for any conversation, for tests that write a history by hand."""
    return Signature(digest(thinking)).encoded()


def digest(value: Json) -> str:
    """Return a short digest of JSON, independent of the order of keys."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def prefix_digest(body: JsonObject, before: Sequence[Speech]) -> str:
    """Return the digest of all that precedes a thought: system prompt, tools, and the turns before its own."""
    tools = [_plain(tool) for tool in objects(body.get("tools")) if tool.get("defer_loading") is not True]
    system = body.get("system")
    return digest(
        [
            system if isinstance(system, str) else [_plain(block) for block in objects(system)],
            sorted(tools, key=digest),
            [[speech.role, list(_spoken(speech))] for speech in before],
        ]
    )


def _spoken(speech: Speech) -> Iterable[JsonObject]:
    for block in speech.blocks:
        if block.type not in {"thinking", "redacted_thinking"}:
            yield _plain(block.at.fields())


def _plain(fields: Mapping[str, Json]) -> JsonObject:
    """Leave out `cache_control`, which a client may move freely."""
    return {name: value for name, value in fields.items() if name != "cache_control"}


class ReturnedThought(NamedTuple):
    """A thought of the conversation."""

    block: Block
    signature: Signature
    speech: int
    """The index of the turn that has the thought."""


def thoughts(speeches: Sequence[Speech]) -> Iterator[ReturnedThought]:
    """Yield the thoughts of a conversation. Refuse a thought that the model never had."""
    for place, speech in enumerate(speeches):
        for block in speech.of("thinking"):
            signature = decoded(block.field("signature"))
            if signature is None or signature.thought != digest(block.field("thinking")):
                block.at.refuse("Invalid `signature` in `thinking` block")
            yield ReturnedThought(block, signature, place)


def unbound(body: JsonObject, speeches: Sequence[Speech]) -> Iterator[Block]:
    """Yield the thoughts that come from another conversation: the entries before them have changed since."""
    previous = ""
    for number, thought in enumerate(thoughts(speeches)):
        signature = thought.signature
        # A signature that a test wrote by hand is valid anywhere. The oldest thoughts may be left out, but not later
        # ones.
        has_gap = number > 0 and signature.previous != previous
        has_changed = signature.prefix != prefix_digest(body, speeches[: thought.speech])
        if signature.prefix and (has_gap or has_changed):
            yield thought.block
        previous = digest(thought.block.field("signature"))


def check_binding(
    body: JsonObject, speeches: Sequence[Speech], thinking: Thinking, able: Abilities, betas: Sequence[str]
) -> None:
    """Refuse thoughts that are not the model's own, or that the model does not accept after this conversation."""
    list(thoughts(speeches))
    if not able.binds_thoughts or thinking.drops_unbound:
        return
    for block in unbound(body, speeches):
        hint = (
            ""
            if BINDING_BETA in betas
            else f" That setting requires the `{BINDING_BETA}` value in the `anthropic-beta` header."
        )
        block.at.refuse(
            "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the "
            f'block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".{hint}'
        )
