"""The rules of Anthropic's Messages API for a request, in the order in which they are checked."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from typing import Final, NamedTuple

from covey.core.json import Json, JsonObject
from covey.testing.models.anthropic_messages.abilities import Abilities, abilities
from covey.testing.models.anthropic_messages.conversation import Speech, read_blocks, read_conversation
from covey.testing.models.anthropic_messages.thinking import (
    Thinking,
    check_binding,
    check_budget,
    check_thoughts,
    read_thinking,
)
from covey.testing.models.request import ProviderRefusal
from covey.testing.models.validation import Cursor, Path, check_parameters

_TYPES = {"an array": "a valid list", "an object": "a valid dictionary"}


class AnthropicErrorWording:
    """Anthropic's wording of errors: the path comes first, with dots between its steps."""

    def missing(self, path: Path) -> ProviderRefusal:
        return self.invalid(path, "Field required")

    def wrong_type(self, path: Path, wanted: str, value: Json) -> ProviderRefusal:
        return self.invalid(path, f"Input should be {_TYPES.get(wanted, wanted.replace(' ', ' valid ', 1))}")

    def not_one_of(self, path: Path, value: str, options: Sequence[str]) -> ProviderRefusal:
        *rest, last = (repr(option) for option in options)
        choice = f"{', '.join(rest)} or {last}" if rest else last
        return self.invalid(path, f"Input should be {choice}")

    def unknown(self, path: Path) -> ProviderRefusal:
        return self.invalid(path, "Extra inputs are not permitted")

    def invalid(self, path: Path, why: str) -> ProviderRefusal:
        place = ".".join(str(step) for step in path)
        return ProviderRefusal(f"{place}: {why}" if place else why)


def check_pairs(speeches: Sequence[Speech], declared: Collection[str] | None, known: Collection[str]) -> None:
    """Refuse uses without results, results without uses, and uses of tools that are not declared.

    `declared` is None if the request has no tools. `known` has the ids of uses that the model itself made: a model may
    call a tool that does not exist, and gets an error as the result.
    """
    seen: set[str] = set()
    for place, speech in enumerate(speeches):
        uses = speech.of("tool_use")
        for use in uses:
            if use.field("id") in seen:
                use.at.refuse("`tool_use` ids must be unique")
            seen.add(use.field("id"))
            if declared is None:
                use.at.refuse("Requests which include `tool_use` or `tool_result` blocks must define tools")
            if use.field("name") not in declared and use.field("id") not in known and not use.at.get("toolset_name"):
                use.at.refuse(f"Tool '{use.field('name')}' not found in provided tools")
        _check_answered(speech.at, [use.field("id") for use in uses], speeches[place + 1 : place + 2])
        before = speeches[place - 1].of("tool_use") if place else []
        _check_results(speech, {use.field("id") for use in before})


def _check_answered(at: Cursor, ids: Sequence[str], following: Sequence[Speech]) -> None:
    leading = [
        block.field("tool_use_id")
        for speech in following
        for block in takewhile(lambda block: block.type == "tool_result", speech.blocks)
    ]
    open_ids = [use_id for use_id in ids if use_id not in leading]
    if open_ids:
        at.refuse(
            "`tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(open_ids)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
            "next message."
        )


def _check_results(speech: Speech, asked: Collection[str]) -> None:
    answered: set[str] = set()
    for result in speech.of("tool_result"):
        use_id = result.field("tool_use_id")
        if use_id not in asked:
            result.at.refuse(
                f"unexpected `tool_use_id` found in `tool_result` blocks: {use_id}. Each `tool_result` block must have "
                "a corresponding `tool_use` block in the previous message."
            )
        if use_id in answered:
            result.at.refuse(f"each tool_use must have a single result. Found multiple `tool_result` blocks: {use_id}")
        answered.add(use_id)


_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_TOOL_FIELDS: Final = {
    "allowed_callers",
    "cache_control",
    "defer_loading",
    "description",
    "eager_input_streaming",
    "input_examples",
    "input_schema",
    "name",
    "strict",
    "type",
}
_CHOICES: Final = {
    "auto": {"type", "disable_parallel_tool_use"},
    "any": {"type", "disable_parallel_tool_use"},
    "tool": {"type", "disable_parallel_tool_use", "name"},
    "none": {"type"},
}


def read_tools(body: Cursor, *, has_betas: bool) -> frozenset[str] | None:
    """Check the tools and return their names; None if the request has no tools."""
    tools = body.get("tools")
    if tools is None:
        return None
    names: list[str] = []
    for tool in tools.items():
        kind = tool.get("type")
        if kind is None or kind.text() == "custom":
            _check_custom(tool, has_betas)
        if name := tool.get("name"):
            names.append(name.text())
    if len(set(names)) < len(names):
        tools.refuse("Tool names must be unique.")
    return frozenset(names)


def _check_custom(tool: Cursor, has_betas: bool) -> None:
    if not has_betas:
        tool.only(_TOOL_FIELDS)
    name = tool.need("name")
    if not _NAME.fullmatch(name.text()):
        name.refuse("String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
    if description := tool.get("description"):
        description.text()
    strict = tool.get("strict")
    check_parameters(tool.need("input_schema"), is_strict=strict is not None and strict.boolean())


def check_choice(body: Cursor, declared: Collection[str] | None, able: Abilities) -> bool:
    """Check `tool_choice`; return whether it forces the model to use a tool."""
    choice = body.get("tool_choice")
    if choice is None:
        return False
    if not declared:
        choice.refuse("tool_choice may only be specified while providing tools")
    kind = choice.need("type").one_of(*_CHOICES)
    choice.only(_CHOICES[kind])
    if kind == "tool" and (name := choice.need("name").text()) not in declared:
        choice.refuse(f"Tool '{name}' not found in provided tools")
    is_forced = kind in {"any", "tool"}
    if is_forced and not able.takes_forced_tools:
        choice.refuse('type "tool" and "any" are not supported for this model.')
    return is_forced


_FIELDS: Final = {
    "cache_control",
    "container",
    "diagnostics",
    "inference_geo",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
    "user_profile_id",
    "workspace_id",
}
_BETA_FIELDS: Final = {
    "compaction",
    "context_management",
    "fallback_credit_token",
    "fallbacks",
    "mcp_servers",
    "output_format",
    "thread",
}
_MOST_BREAKPOINTS: Final = 4


class CheckedRequest(NamedTuple):
    """The parsed parts of a valid request."""

    speeches: list[Speech]
    thinking: Thinking
    able: Abilities


def check_request(body: JsonObject, betas: Sequence[str], issued: Mapping[str, tuple[str, ...]]) -> CheckedRequest:
    """Refuse a request that the provider would refuse. `issued` has the thoughts with each tool use of the model."""
    at = Cursor(body, AnthropicErrorWording())
    at.only(_FIELDS | _BETA_FIELDS if betas else _FIELDS)
    able = abilities(_model(at))
    _check_numbers(at, able)
    thinking = read_thinking(at, able, betas)
    if (system := at.get("system")) and not isinstance(system.value, str):
        read_blocks(system, "system", has_betas=bool(betas))
    declared = read_tools(at, has_betas=bool(betas))
    check_budget(at, thinking, is_tool_forced=check_choice(at, declared, able))
    speeches = read_conversation(at, able, has_betas=bool(betas))
    _check_breakpoints(at)
    check_pairs(speeches, declared, issued)
    check_thoughts(speeches, thinking, issued)
    check_binding(body, speeches, thinking, able, betas)
    _check_end(at, speeches[-1], thinking, able)
    return CheckedRequest(speeches, thinking, able)


def _model(at: Cursor) -> str:
    model = at.need("model")
    if not model.text():
        model.refuse("String should have at least 1 character")
    return model.text()


def _check_numbers(at: Cursor, able: Abilities) -> None:
    most = at.need("max_tokens")
    if most.integer() < 0:
        most.refuse("Input should be greater than or equal to 0")
    if stream := at.get("stream"):
        stream.boolean()
    for stop in stops.items() if (stops := at.get("stop_sequences")) else ():
        if not stop.text().strip():
            stop.refuse("each stop sequence must contain non-whitespace")
    for name in ("temperature", "top_p", "top_k"):
        if value := at.get(name):
            if not able.takes_sampling and (name == "top_k" or value.number() != 1):
                at.refuse(f"`{name}` is deprecated for this model.")
            if name != "top_k" and not 0 <= value.number() <= 1:
                value.refuse("Input should be less than or equal to 1")


def _check_breakpoints(at: Cursor) -> None:
    places: list[Json] = [at.fields().get(name) for name in ("system", "tools", "messages")]
    count = sum(_breakpoints(place) for place in places)
    if count > _MOST_BREAKPOINTS:
        at.refuse(f"A maximum of {_MOST_BREAKPOINTS} blocks with cache_control may be provided. Found {count}.")


def _breakpoints(value: Json) -> int:
    if isinstance(value, Mapping):
        own = 1 if value.get("cache_control") else 0
        return own + _breakpoints(value.get("content"))
    return 0 if value is None or isinstance(value, str | int | float) else sum(_breakpoints(item) for item in value)


def _check_end(at: Cursor, last: Speech, thinking: Thinking, able: Abilities) -> None:
    """Refuse a prefill of the answer if the model takes none, if thinking is on, or if it ends in whitespace."""
    if last.role != "assistant" or last.is_paused:
        return
    if not able.continues_prefill or thinking.is_on:
        at.refuse(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    if last.blocks and last.blocks[-1].type == "text" and last.blocks[-1].field("text")[-1].isspace():
        at.need("messages").refuse("final assistant content cannot end with trailing whitespace")
