"""OpenAI's Chat Completions API: POST /v1/chat/completions."""

from collections.abc import Mapping

from covey.core.json import JsonObject
from covey.testing.models import openai_voice
from covey.testing.models.dialect import Answer, Event
from covey.testing.models.openai_chat.answer import answer
from covey.testing.models.openai_chat.check import check_request
from covey.testing.models.openai_chat.entries import entries
from covey.testing.models.refusal import Refusal
from covey.testing.models.request import Api, Entry, ModelRequest
from covey.testing.models.script import Trouble, Turn, with_ids


class OpenAIChat:
    """Remembers nothing: a request has everything in it."""

    api = Api.OPENAI_CHAT
    path = "/v1/chat/completions"
    request_id_header = "x-request-id"

    def authenticate(self, headers: Mapping[str, str], key: str | None) -> None:
        openai_voice.authenticate(headers, key)

    def check(self, body: JsonObject, headers: Mapping[str, str]) -> None:
        check_request(body)

    def read(self, body: JsonObject) -> tuple[Entry, ...]:
        return tuple(entries(body))

    def answer(self, turn: Turn, request: ModelRequest) -> Answer:
        return answer(with_ids(turn, "call_"), request)

    def failure(self, refusal: Refusal, request_id: str) -> JsonObject:
        return openai_voice.failure(refusal)

    def trouble(self, trouble: Trouble) -> Refusal:
        return openai_voice.trouble(trouble)

    def broken(self, trouble: Trouble, answer: Answer, sent: int) -> Event:
        return Event(openai_voice.failure(openai_voice.trouble(trouble)))
