"""What a model reads of a request to OpenAI's Responses API."""

from collections.abc import Iterable, Iterator

from covey.core.json import JsonObject
from covey.testing.models.lenient import string, texts
from covey.testing.models.request import Entry, Kind


def entries(body: JsonObject, items: Iterable[JsonObject]) -> Iterator[Entry]:
    """Go through the instructions and all items."""
    if instructions := string(body.get("instructions")):
        yield Entry("system", Kind.TEXT, instructions)
    for item in items:
        yield from _entries(item)


def _entries(item: JsonObject) -> Iterator[Entry]:
    match item.get("type", "message"):
        case "message":
            for text in texts(item.get("content")):
                yield Entry(string(item.get("role")), Kind.TEXT, text)
        case "reasoning":
            for text in texts(item.get("summary")):
                yield Entry("assistant", Kind.THOUGHT, text)
        case "function_call" | "custom_tool_call":
            name, call_id = string(item.get("name")), string(item.get("call_id"))
            text = string(item.get("arguments")) or string(item.get("input"))
            yield Entry("assistant", Kind.CALL, text, name, call_id)
        case "function_call_output" | "custom_tool_call_output":
            text = "\n".join(texts(item.get("output")))
            yield Entry("tool", Kind.RESULT, text, id=string(item.get("call_id")))
        case _:
            pass
