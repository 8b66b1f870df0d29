"""What a model reads of a request to OpenAI's Chat Completions API."""

from collections.abc import Iterator

from covey.core.json import JsonObject
from covey.testing.models.lenient import obj, objects, string, texts
from covey.testing.models.request import Entry, Kind


def entries(body: JsonObject) -> Iterator[Entry]:
    """Go through all messages."""
    for message in objects(body.get("messages")):
        role = string(message.get("role"))
        if role == "tool":
            text = "\n".join(texts(message.get("content")))
            yield Entry(role, Kind.RESULT, text, id=string(message.get("tool_call_id")))
            continue
        for text in texts(message.get("content")):
            yield Entry(role, Kind.TEXT, text)
        for call in objects(message.get("tool_calls")):
            function = obj(call.get("function"))
            name, arguments = string(function.get("name")), string(function.get("arguments"))
            yield Entry(role, Kind.CALL, arguments, name, string(call.get("id")))
