"""The items of an input: their types, and the required fields of each."""

from collections.abc import Callable
from typing import Final

from covey.testing.models.cursor import Cursor
from covey.testing.models.openai import check_name
from covey.testing.models.refusal import Refusal

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
        raise Refusal(
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
