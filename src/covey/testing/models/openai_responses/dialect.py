"""OpenAI's Responses API: POST /v1/responses."""

from collections.abc import Mapping

from covey.core.json import JsonObject
from covey.testing.models import openai_voice
from covey.testing.models.dialect import Answer, Event
from covey.testing.models.lenient import string
from covey.testing.models.openai_responses.answer import items, response
from covey.testing.models.openai_responses.check import check_request
from covey.testing.models.openai_responses.entries import entries
from covey.testing.models.openai_responses.memory import Memory, given
from covey.testing.models.openai_responses.stream import events
from covey.testing.models.refusal import Refusal
from covey.testing.models.request import Api, Entry, ModelRequest
from covey.testing.models.script import Trouble, Turn, with_ids


class OpenAIResponses:
    """Remembers the responses that it stored."""

    api = Api.OPENAI_RESPONSES
    path = "/v1/responses"
    request_id_header = "x-request-id"

    def __init__(self) -> None:
        self._memory = Memory()

    def authenticate(self, headers: Mapping[str, str], key: str | None) -> None:
        openai_voice.authenticate(headers, key)

    def check(self, body: JsonObject, headers: Mapping[str, str]) -> None:
        check_request(body, self._memory)

    def read(self, body: JsonObject) -> tuple[Entry, ...]:
        try:
            before = self._memory.before(body)
        except Refusal:
            before = ()
        return tuple(entries(body, [*before, *map(self._resolved, given(body))]))

    def _resolved(self, item: JsonObject) -> JsonObject:
        """Return the item that a reference means."""
        return self._memory.item(string(item.get("id"))) or item if set(item) <= {"id", "type"} else item

    def answer(self, turn: Turn, request: ModelRequest) -> Answer:
        turn = with_ids(turn, "call_")
        output = items(turn, request)
        body = response(turn, request, output)
        self._memory.keep(string(body["id"]), request.body, output)
        return Answer(body, tuple(events(body, output)))

    def failure(self, refusal: Refusal, request_id: str) -> JsonObject:
        return openai_voice.failure(refusal)

    def trouble(self, trouble: Trouble) -> Refusal:
        return openai_voice.trouble(trouble)

    def broken(self, trouble: Trouble, answer: Answer, sent: int) -> Event:
        told = openai_voice.trouble(trouble)
        error: JsonObject = {"code": told.code, "message": told.message}
        failed: JsonObject = {**answer.body, "status": "failed", "output": [], "usage": None, "error": error}
        return Event({"type": "response.failed", "sequence_number": sent, "response": failed}, "response.failed")
