"""Plain HTTP to a scripted model, for requests that the official clients never send."""

import json
from http.client import HTTPConnection, HTTPResponse
from typing import NamedTuple
from urllib.parse import urlsplit

from covey.core.json import JsonObject
from covey.testing.models import ScriptedModel
from covey.testing.models.request import objects

ANTHROPIC = {"x-api-key": "any", "anthropic-version": "2023-06-01"}
OPENAI = {"authorization": "Bearer any"}


class Answer(NamedTuple):
    """An HTTP response."""

    status: int
    body: JsonObject


def connect(model: ScriptedModel) -> HTTPConnection:
    """Open a connection with a timeout."""
    place = urlsplit(model.url)
    assert place.hostname
    return HTTPConnection(place.hostname, place.port, timeout=10)


def post(model: ScriptedModel, path: str, body: JsonObject | bytes, headers: dict[str, str]) -> Answer:
    """Send one request on a new connection."""
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
    """Read a whole response."""
    return Answer(response.status, json.loads(response.read()))


def said(answer: Answer) -> object:
    """Return the text of a response of Anthropic."""
    return objects(answer.body["content"])[0]["text"]
