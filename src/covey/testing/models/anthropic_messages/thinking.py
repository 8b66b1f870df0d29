"""Thinking: the settings of a request, and the thoughts that a conversation must have."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from covey.testing.models.anthropic_messages.abilities import Abilities
from covey.testing.models.anthropic_messages.conversation import Speech
from covey.testing.models.cursor import Cursor

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
