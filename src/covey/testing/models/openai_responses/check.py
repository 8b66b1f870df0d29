"""The rules of OpenAI's Responses API for a request."""

from typing import Final

from covey.core.json import JsonObject
from covey.testing.models.cursor import Cursor
from covey.testing.models.openai_functions import check_function
from covey.testing.models.openai_responses.items import check_item
from covey.testing.models.openai_responses.memory import Memory
from covey.testing.models.openai_responses.pairing import check_calls, check_ids, check_thoughts
from covey.testing.models.openai_voice import OpenAIVoice, spelled
from covey.testing.models.refusal import Refusal

_FIELDS: Final = {
    "access_programs",
    "background",
    "client_metadata",
    "context_management",
    "conversation",
    "image",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "moderation",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
}
_TOOLS: Final = (
    "function",
    "apply_patch",
    "code_interpreter",
    "computer",
    "computer_use_preview",
    "custom",
    "file_search",
    "image_generation",
    "local_shell",
    "mcp",
    "namespace",
    "programmatic_tool_calling",
    "shell",
    "tool_search",
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
)


def check_request(body: JsonObject, memory: Memory) -> None:
    """Refuse a request that the provider would not take."""
    at = Cursor(body, OpenAIVoice())
    at.only(_FIELDS)
    if at.get("prompt") is None:
        at.need("model").text()
    for name in ("stream", "store", "background", "parallel_tool_calls"):
        if value := at.get(name):
            value.boolean()
    for name in ("instructions", "previous_response_id"):
        if value := at.get(name):
            value.text()
    if at.get("conversation") and at.get("previous_response_id"):
        raise Refusal("Mutually exclusive parameters: 'previous_response_id' and 'conversation'.")
    _check_choice(at.get("tool_choice"), _check_tools(at.get("tools")))
    _check_input(at, memory)


def _check_input(at: Cursor, memory: Memory) -> None:
    before = memory.before(at.fields())
    content = at.get("input")
    if content is None:
        if not any(at.get(name) for name in ("previous_response_id", "prompt", "conversation")):
            raise Refusal(
                "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.",
                code="missing_required_parameter",
            )
        check_calls(before, [])
        return
    items = [] if isinstance(content.value, str) else content.items()
    for item in items:
        check_item(item)
    check_ids(items, memory)
    check_thoughts(items, memory)
    check_calls(before, items)


def _check_tools(tools: Cursor | None) -> set[str]:
    names: set[str] = set()
    for tool in tools.items() if tools else ():
        if tool.need("type").one_of(*_TOOLS) == "function":
            names.add(check_function(tool, spelled((*tool.path, "parameters"))))
        elif name := tool.get("name"):
            names.add(name.text())
    return names


def _check_choice(choice: Cursor | None, names: set[str]) -> None:
    if choice is None:
        return
    if isinstance(choice.value, str):
        if choice.one_of("none", "auto", "required") == "required" and not names:
            choice.refuse("Tool choice 'required' must be specified with 'tools' parameter.")
        return
    if choice.need("type").text() in {"function", "custom"} and (name := choice.need("name").text()) not in names:
        choice.refuse(f"Tool choice '{name}' not found in 'tools' parameter.")
