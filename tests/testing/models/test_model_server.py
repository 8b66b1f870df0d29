"""The scripted model on the wire: authentication, interrupted connections, and clean-up."""

import json
import threading
from http.client import IncompleteRead

import pytest

from covey.testing.models import Gate, Hang, ScriptedModel, say
from covey.testing.models.request import obj
from tests.testing.models import wire
from tests.testing.models.claude import request
from tests.testing.models.wire import ANTHROPIC, OPENAI, said

MESSAGES = "/v1/messages"


@pytest.mark.parametrize(
    ("path", "headers", "kind"),
    [
        (MESSAGES, {"anthropic-version": "2023-06-01"}, "authentication_error"),
        ("/v1/chat/completions", {}, "invalid_request_error"),
        ("/v1/responses", {"authorization": "Basic abc"}, "invalid_request_error"),
    ],
)
def test_a_client_without_a_key_is_refused(path: str, headers: dict[str, str], kind: str) -> None:
    with ScriptedModel([]) as model:
        answer = wire.post(model, path, {}, headers)
        assert answer.status == 401
        assert obj(answer.body["error"])["type"] == kind


def test_a_bearer_token_is_a_key_for_anthropic_too() -> None:
    headers = {"authorization": "Bearer any", "anthropic-version": "2023-06-01"}
    with ScriptedModel(["one"]) as model:
        assert wire.post(model, MESSAGES, request(), headers).status == 200


def test_anthropic_requires_a_version() -> None:
    with ScriptedModel([]) as model:
        answer = wire.post(model, MESSAGES, request(), {"x-api-key": "any"})
        assert (answer.status, "anthropic-version" in str(answer.body)) == (400, True)


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "kind"),
    [
        ("POST", "/v1/complete", ANTHROPIC, 404, "not_found_error"),
        ("GET", "/v1/models", OPENAI, 404, "invalid_request_error"),
        ("GET", "/v1/messages", ANTHROPIC, 405, "invalid_request_error"),
        ("DELETE", "/v1/responses", OPENAI, 405, "invalid_request_error"),
    ],
)
def test_an_unknown_path_or_method_is_refused(
    method: str, path: str, headers: dict[str, str], status: int, kind: str
) -> None:
    with ScriptedModel([]) as model:
        answer = wire.send(model, method, path, b"", headers)
        assert (answer.status, obj(answer.body["error"])["type"]) == (status, kind)
        assert model.elsewhere == (f"{method} {path}",)
        assert model.requests == ()


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff"])
def test_a_body_without_a_json_object_is_refused(raw: bytes) -> None:
    with ScriptedModel([]) as model:
        assert wire.post(model, MESSAGES, raw, ANTHROPIC).status == 400
        assert model.requests[0].body == {}


def test_a_body_may_come_in_chunks() -> None:
    with ScriptedModel(["one"]) as model:
        connection = wire.connect(model)
        chunks = [b'{"model": "gpt-6", ', b'"messages": [{"role": "user", "content": "hi"}]}']
        connection.request("POST", "/v1/chat/completions", iter(chunks), OPENAI, encode_chunked=True)
        assert wire.read(connection.getresponse()).status == 200
        connection.close()
        assert model.requests[0].text == "hi"


def test_a_connection_serves_many_requests() -> None:
    with ScriptedModel(str(number) for number in range(20)) as model:
        connection = wire.connect(model)
        for _ in range(20):
            connection.request("POST", "/v1/chat/completions", b"{}", OPENAI)
            assert wire.read(connection.getresponse()).status == 400
        connection.close()


def test_twenty_clients_at_once_get_a_turn_each() -> None:
    answers: list[object] = []
    with ScriptedModel(str(number) for number in range(20)) as model:
        threads = [
            threading.Thread(target=lambda: answers.append(said(wire.post(model, MESSAGES, request(), ANTHROPIC))))
            for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert sorted(map(str, answers)) == sorted(str(number) for number in range(20))
        assert [each.number for each in model.requests] == list(range(1, 21))


def test_a_plain_answer_waits_at_its_gate() -> None:
    gate = Gate()
    answers: list[object] = []
    with ScriptedModel([say("one", gate=gate)]) as model:
        thread = threading.Thread(target=lambda: answers.append(said(wire.post(model, MESSAGES, request(), ANTHROPIC))))
        thread.start()
        model.wait_for_request(1)
        assert answers == []
        gate.let()
        thread.join(10)
        assert answers == ["one"]


@pytest.mark.parametrize("is_streaming", [False, True])
@pytest.mark.parametrize("ends", ["hanging", "held"])
def test_closing_the_model_ends_waiting_requests(ends: str, is_streaming: bool) -> None:
    line = Hang() if ends == "hanging" else say("one", gate=Gate())
    with ScriptedModel([line]) as model:
        connection = wire.connect(model)
        connection.request("POST", MESSAGES, json.dumps(request(stream=is_streaming)).encode(), ANTHROPIC)
        model.wait_for_request(1)
    with pytest.raises(ConnectionError):
        connection.getresponse()
    connection.close()


def test_a_stream_may_hang_in_the_middle() -> None:
    with ScriptedModel([say("one", ends=Hang(after=2))]) as model:
        connection = wire.connect(model)
        connection.request("POST", MESSAGES, json.dumps(request(stream=True)).encode(), ANTHROPIC)
        response = connection.getresponse()
        lines = [response.readline() for _ in range(6)]
        assert [line for line in lines if line.startswith(b"event")] == [b"event: message_start\n", b"event: ping\n"]
    with pytest.raises(IncompleteRead):
        response.read()
    connection.close()


def test_a_client_may_leave_in_the_middle_of_a_stream() -> None:
    gate = Gate()
    with ScriptedModel([say("one, " * 100_000, gate=gate), "two"]) as model:
        connection = wire.connect(model)
        connection.request("POST", MESSAGES, json.dumps(request(stream=True)).encode(), ANTHROPIC)
        gate.let()
        connection.getresponse().readline()
        connection.close()
        gate.open()
        assert said(wire.post(model, MESSAGES, request(), ANTHROPIC)) == "two"


def test_an_error_on_a_connection_fails_the_test() -> None:
    def run() -> None:
        with ScriptedModel([]) as model, pytest.raises(ConnectionError):
            wire.post(model, MESSAGES, b"", {**ANTHROPIC, "content-length": "many"})

    with pytest.raises(ValueError, match="many"):
        run()


def test_a_body_may_not_be_too_large() -> None:
    with ScriptedModel([]) as model:
        answer = wire.post(model, MESSAGES, b" " * (32 * 1024 * 1024 + 1), ANTHROPIC)
        assert answer.status == 413
        assert obj(answer.body["error"])["type"] == "request_too_large"


def test_a_model_that_is_not_open_has_no_url() -> None:
    with pytest.raises(RuntimeError, match="not open"):
        _ = ScriptedModel([]).url


def test_two_models_are_two_servers() -> None:
    with ScriptedModel(["one"]) as one, ScriptedModel(["two"]) as two:
        assert said(wire.post(two, MESSAGES, request(), ANTHROPIC)) == "two"
        assert said(wire.post(one, MESSAGES, request(), ANTHROPIC)) == "one"
