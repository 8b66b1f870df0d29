"""The rules of OpenAI's Responses API for a request."""

from collections.abc import Sequence
from typing import Final

from covey.core.json import JsonObject
from covey.testing.models.openai import OpenAIErrorWording, check_function, spelled
from covey.testing.models.openai_responses.items import OUTPUTS, ResponseMemory, check_item, encrypted, type_of
from covey.testing.models.request import ProviderRefusal, string
from covey.testing.models.validation import Cursor


def check_calls(before: Sequence[JsonObject], items: Sequence[Cursor]) -> None:
    """Refuse an output without its call, and a call without its output. `before` has the items that the provider
    remembers."""
    waiting = [(string(item.get("type")), string(item.get("call_id"))) for item in before]
    waiting = [(kind, call_id) for kind, call_id in waiting if kind in OUTPUTS]
    for item in before:
        _answer(waiting, string(item.get("type")), string(item.get("call_id")))
    for item in items:
        kind = type_of(item)
        if kind in OUTPUTS:
            waiting.append((kind, item.need("call_id").text()))
        elif kind in OUTPUTS.values():
            call_id = item.need("call_id").text()
            if not _answer(waiting, kind, call_id):
                told = kind.removesuffix("_output").replace("_", " ")
                _refuse(f"No tool call found for {told} output with call_id {call_id}.")
    if waiting:
        kind, call_id = waiting[0]
        _refuse(f"No tool output found for {kind.replace('_', ' ')} {call_id}.")


def _answer(waiting: list[tuple[str, str]], kind: str, call_id: str) -> bool:
    for call in waiting:
        if (OUTPUTS[call[0]], call[1]) == (kind, call_id):
            waiting.remove(call)
            return True
    return False


def check_ids(items: Sequence[Cursor], memory: ResponseMemory) -> None:
    """Refuse a duplicate item, a thought with wrong encrypted content, and a reference to an item that was not
    stored."""
    seen: set[str] = set()
    for item in items:
        item_id = string(item.fields().get("id"))
        if item_id and item_id in seen:
            _refuse(f"Duplicate item found with id {item_id}. Remove duplicate items from your input and try again.")
        seen.add(item_id)
        kind = type_of(item)
        content = item.get("encrypted_content")
        if kind == "reasoning" and content and content.text() != encrypted(item_id):
            raise ProviderRefusal(
                f"The encrypted content for item {item_id} could not be verified.", code="invalid_encrypted_content"
            )
        is_bare = kind == "item_reference" or (kind == "reasoning" and not content)
        if is_bare and memory.item(item_id) is None:
            raise ProviderRefusal(
                f"Item with id '{item_id}' not found. Items are not persisted when `store` is set to false. Try again "
                "with `store` set to true, or remove this item from your input.",
                status=404,
                param="input",
            )


def check_thoughts(items: Sequence[Cursor], memory: ResponseMemory) -> None:
    """Refuse a thought without the item that followed it, and an item without the thought that it followed."""
    ids = {string(item.fields().get("id")) for item in items}
    for place, item in enumerate(items):
        kind, item_id = type_of(item), string(item.fields().get("id"))
        if kind == "reasoning" and not any(_is_said(next_item) for next_item in items[place + 1 : place + 2]):
            _refuse(f"Item '{item_id}' of type 'reasoning' was provided without its required following item.")
        thought = memory.thought_of(item_id)
        if thought and thought not in ids:
            _refuse(
                f"Item '{item_id}' of type '{kind}' was provided without its required 'reasoning' item: '{thought}'."
            )


def _is_said(item: Cursor) -> bool:
    kind = type_of(item)
    if kind == "message":
        return item.fields().get("role") == "assistant"
    return kind not in OUTPUTS.values()


def _refuse(message: str) -> None:
    raise ProviderRefusal(message, param="input")


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


def check_request(body: JsonObject, memory: ResponseMemory) -> None:
    """Refuse a request that the provider would refuse."""
    at = Cursor(body, OpenAIErrorWording())
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
        raise ProviderRefusal("Mutually exclusive parameters: 'previous_response_id' and 'conversation'.")
    _check_choice(at.get("tool_choice"), _check_tools(at.get("tools")))
    _check_input(at, memory)


def _check_input(at: Cursor, memory: ResponseMemory) -> None:
    before = memory.before(at.fields())
    content = at.get("input")
    if content is None:
        if not any(at.get(name) for name in ("previous_response_id", "prompt", "conversation")):
            raise ProviderRefusal(
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
