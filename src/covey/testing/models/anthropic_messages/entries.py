"""What a model reads of a request to Anthropic's Messages API."""

from collections.abc import Iterator

from covey.core.json import JsonObject
from covey.testing.models.dialect import encode
from covey.testing.models.lenient import objects, string, texts
from covey.testing.models.request import Entry, Kind


def entries(body: JsonObject) -> Iterator[Entry]:
    """Go through the system prompt and the blocks of all messages."""
    for text in texts(body.get("system")):
        yield Entry("system", Kind.TEXT, text)
    for message in objects(body.get("messages")):
        role, content = string(message.get("role")), message.get("content")
        if isinstance(content, str):
            yield Entry(role, Kind.TEXT, content)
        for block in objects(content):
            yield from _entry(role, block)


def _entry(role: str, block: JsonObject) -> Iterator[Entry]:
    match block.get("type"):
        case "text":
            yield Entry(role, Kind.TEXT, string(block.get("text")))
        case "thinking":
            yield Entry(role, Kind.THOUGHT, string(block.get("thinking")))
        case "tool_use":
            name, use_id = string(block.get("name")), string(block.get("id"))
            yield Entry(role, Kind.CALL, encode(block.get("input")), name, use_id)
        case "tool_result":
            text = "\n".join(texts(block.get("content")))
            yield Entry(role, Kind.RESULT, text, id=string(block.get("tool_use_id")))
        case _:
            pass
