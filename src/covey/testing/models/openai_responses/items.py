"""The items of OpenAI's Responses API: their types and required fields, and the provider's memory of earlier ones."""

import base64
from collections.abc import Callable, Sequence
from typing import Final

from covey.core.json import JsonObject
from covey.testing.models.openai import check_name
from covey.testing.models.request import ProviderRefusal, objects, string
from covey.testing.models.validation import Cursor

OUTPUTS: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}
"""The types of calls that the client answers, each with the type of its answer."""

_OTHERS: Final = (
    "additional_tools",
    "code_interpreter_call",
    "compaction",
    "compaction_trigger",
    "configuration_update",
    "file_search_call",
    "image_generation_call",
    "local_shell_call",
    "local_shell_call_output",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "mcp_list_tools",
    "program",
    "program_output",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
)
_TYPES: Final = ("message", "reasoning", "item_reference", *OUTPUTS, *OUTPUTS.values(), *_OTHERS)
_PREFIXES: Final = {"message": "msg", "reasoning": "rs", "function_call": "fc", "function_call_output": "fc"}
_LONGEST_CALL_ID: Final = 64
_INPUT_PARTS: Final = ("input_text", "input_image", "input_file", "input_audio")
_OUTPUT_PARTS: Final = ("output_text", "refusal")


def type_of(item: Cursor) -> str:
    """Return the type of an item. Messages and references may leave the type out."""
    kind = item.get("type")
    if kind is not None:
        return kind.one_of(*_TYPES)
    return "item_reference" if set(item.fields()) == {"id"} else "message"


def check_item(item: Cursor) -> None:
    """Refuse an item that breaks the rules of its type."""
    kind = type_of(item)
    item_id = item.get("id")
    prefix = _PREFIXES.get(kind)
    if item_id and prefix and not item_id.text().startswith(prefix):
        item_id.refuse(f"Invalid 'input[].id': '{item_id.text()}'. Expected an ID that begins with '{prefix}'.")
    if kind in OUTPUTS or kind in OUTPUTS.values():
        _check_call_id(item.need("call_id"))
    _CHECKS.get(kind, _nothing)(item)


def _nothing(item: Cursor) -> None:
    pass


def _check_call_id(at: Cursor) -> None:
    if not 0 < len(at.text()) <= _LONGEST_CALL_ID:
        raise ProviderRefusal(
            f"Invalid 'input[].call_id': expected 1 to {_LONGEST_CALL_ID} characters, but got {len(at.text())}.",
            code="string_above_max_length",
        )


def _message(item: Cursor) -> None:
    role = item.need("role").one_of("assistant", "system", "developer", "user")
    content = item.need("content")
    if isinstance(content.value, str):
        return
    kinds = _OUTPUT_PARTS if role == "assistant" else _INPUT_PARTS
    for part in content.items():
        _check_part(part, kinds)


def _check_part(part: Cursor, kinds: tuple[str, ...]) -> None:
    match part.need("type").one_of(*kinds):
        case "input_text" | "output_text":
            part.need("text").text()
        case "refusal":
            part.need("refusal").text()
        case "input_image":
            if not (part.get("image_url") or part.get("file_id")):
                raise part.voice.missing((*part.path, "image_url"))
        case _:
            pass


def _function_call(item: Cursor) -> None:
    check_name(item.need("name"))
    item.need("arguments").text()


def _output(item: Cursor) -> None:
    output = item.need("output")
    if not isinstance(output.value, str):
        for part in output.items():
            _check_part(part, _INPUT_PARTS)


def _reasoning(item: Cursor) -> None:
    item.need("id").text()
    for part in item.need("summary").items():
        part.need("type").one_of("summary_text")
        part.need("text").text()


def _reference(item: Cursor) -> None:
    item.need("id").text()


_CHECKS: Final[dict[str, Callable[[Cursor], None]]] = {
    "message": _message,
    "function_call": _function_call,
    "function_call_output": _output,
    "custom_tool_call_output": _output,
    "reasoning": _reasoning,
    "item_reference": _reference,
}


class ResponseMemory:
    """Stored responses, each with the whole conversation before it. A request can opt out with `store: false`."""

    def __init__(self) -> None:
        self._responses: dict[str, tuple[JsonObject, ...]] = {}
        self._items: dict[str, JsonObject] = {}
        self._thoughts: dict[str, str] = {}

    def before(self, body: JsonObject) -> tuple[JsonObject, ...]:
        """Return the items before the input of a request. Refuse a request whose previous response was not stored."""
        previous = body.get("previous_response_id")
        if previous is None:
            return ()
        if previous not in self._responses:
            raise ProviderRefusal(
                f"Previous response with id '{previous}' not found.",
                param="previous_response_id",
                code="previous_response_not_found",
            )
        return self._responses[string(previous)]

    def keep(self, response_id: str, body: JsonObject, output: Sequence[JsonObject]) -> None:
        """Remember the thoughts of a response, and store the response unless its request opts out."""
        thought = ""
        for item in output:
            if item.get("type") == "reasoning":
                thought = string(item.get("id"))
            elif thought:
                self._thoughts[string(item.get("id"))] = thought
        if body.get("store") is not False:
            self._responses[response_id] = (*self.before(body), *given(body), *output)
            self._items.update({string(item.get("id")): item for item in output})

    def item(self, item_id: str) -> JsonObject | None:
        """Return a stored item, or None."""
        return self._items.get(item_id)

    def thought_of(self, item_id: str) -> str:
        """Return the id of the last thought before an item in its response; empty if there was none."""
        return self._thoughts.get(item_id, "")


def given(body: JsonObject) -> list[JsonObject]:
    """Return the input of a request as items."""
    content = body.get("input")
    return [{"type": "message", "role": "user", "content": content}] if isinstance(content, str) else objects(content)


def encrypted(item_id: str) -> str:
    """Return the encrypted content of a thought, which in the real API only the provider can read."""
    return base64.b64encode(f"scripted:{item_id}".encode()).decode()
