"""Plain HTTP to a scripted model, for what the official clients would never send."""

import json
from http.client import HTTPConnection, HTTPResponse
from typing import NamedTuple
from urllib.parse import urlsplit

from covey.core.json import JsonObject
from covey.testing.models import ScriptedModel
from covey.testing.models.lenient import objects

ANTHROPIC = {"x-api-key": "any", "anthropic-version": "2023-06-01"}
OPENAI = {"authorization": "Bearer any"}


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: JsonObject


def connect(model: ScriptedModel) -> HTTPConnection:
    """Open a connection; every wait on it has a limit."""
    place = urlsplit(model.url)
    assert place.hostname
    return HTTPConnection(place.hostname, place.port, timeout=10)


def post(model: ScriptedModel, path: str, body: JsonObject | bytes, headers: dict[str, str]) -> Answer:
    """Send one request on a connection of its own."""
    return send(model, "POST", path, body if isinstance(body, bytes) else json.dumps(body).encode(), headers)


def send(model: ScriptedModel, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
    """Send one request by any method."""
    connection = connect(model)
    try:
        connection.request(method, path, body, headers)
        return read(connection.getresponse())
    finally:
        connection.close()


def read(response: HTTPResponse) -> Answer:
    """Read a whole answer."""
    return Answer(response.status, json.loads(response.read()))


def said(answer: Answer) -> object:
    """Return the text of an answer of Anthropic's."""
    return objects(answer.body["content"])[0]["text"]
