"""The rules of Anthropic's Messages API for a request, in the order in which they are looked at."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from covey.core.json import Json, JsonObject
from covey.testing.models.anthropic_messages.abilities import Abilities, abilities
from covey.testing.models.anthropic_messages.binding import check_binding
from covey.testing.models.anthropic_messages.blocks import read_blocks
from covey.testing.models.anthropic_messages.conversation import Speech, read_conversation
from covey.testing.models.anthropic_messages.pairing import check_pairs
from covey.testing.models.anthropic_messages.thinking import Thinking, check_budget, check_thoughts, read_thinking
from covey.testing.models.anthropic_messages.tools import check_choice, read_tools
from covey.testing.models.anthropic_messages.voice import AnthropicVoice
from covey.testing.models.cursor import Cursor

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


class Checked(NamedTuple):
    """A request that is in order."""

    speeches: list[Speech]
    thinking: Thinking
    able: Abilities


def check_request(body: JsonObject, betas: Sequence[str], issued: Mapping[str, tuple[str, ...]]) -> Checked:
    """Refuse a request that the provider would not take. `issued` has the thoughts with each tool use of the model."""
    at = Cursor(body, AnthropicVoice())
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
    return Checked(speeches, thinking, able)


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
    """Refuse a beginning of the answer that the model is to go on with, where it does not go on with any."""
    if last.role != "assistant" or last.is_paused:
        return
    if not able.continues_prefill or thinking.is_on:
        at.refuse(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    if last.blocks and last.blocks[-1].type == "text" and last.blocks[-1].field("text")[-1].isspace():
        at.need("messages").refuse("final assistant content cannot end with trailing whitespace")
