"""The events of a stream that build a response of OpenAI's Responses API."""

from collections.abc import Iterator, Sequence

from covey.core.json import JsonObject
from covey.testing.models.dialect import Event, pieces
from covey.testing.models.lenient import objects, string


def events(response: JsonObject, output: Sequence[JsonObject]) -> Iterator[Event]:
    """Number the events and go through them."""
    for number, data in enumerate(_data(response, output)):
        yield Event({**data, "sequence_number": number}, str(data["type"]))


def _data(response: JsonObject, output: Sequence[JsonObject]) -> Iterator[JsonObject]:
    begun: JsonObject = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(output):
        place: JsonObject = {"output_index": index, "item_id": item["id"]}
        match item["type"]:
            case "message":
                yield _added(index, {**item, "status": "in_progress", "content": []})
                yield from _message(item, place)
            case "reasoning":
                yield _added(index, {**item, "summary": []})
                yield from _reasoning(item, place)
            case _:
                yield _added(index, {**item, "status": "in_progress", "arguments": ""})
                yield from _call(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


def _added(index: int, item: JsonObject) -> JsonObject:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def _message(item: JsonObject, place: JsonObject) -> Iterator[JsonObject]:
    for index, part in enumerate(objects(item["content"])):
        where: JsonObject = {**place, "content_index": index}
        yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
        for piece in pieces(string(part["text"])):
            yield {"type": "response.output_text.delta", **where, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **where, "part": part}


def _reasoning(item: JsonObject, place: JsonObject) -> Iterator[JsonObject]:
    for index, part in enumerate(objects(item["summary"])):
        where: JsonObject = {**place, "summary_index": index}
        yield {"type": "response.reasoning_summary_part.added", **where, "part": {**part, "text": ""}}
        for piece in pieces(string(part["text"])):
            yield {"type": "response.reasoning_summary_text.delta", **where, "delta": piece}
        yield {"type": "response.reasoning_summary_text.done", **where, "text": part["text"]}
        yield {"type": "response.reasoning_summary_part.done", **where, "part": part}


def _call(item: JsonObject, place: JsonObject) -> Iterator[JsonObject]:
    for piece in pieces(string(item["arguments"])):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]}
