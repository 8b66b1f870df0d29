"""The scripted model in a test: its log, its waits, its script and its refusals."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from covey.testing.models import Api, Line, ModelRequest, ScriptedModel, ToolCall
from tests.testing.models import wire
from tests.testing.models.claude import request, user
from tests.testing.models.wire import ANTHROPIC, OPENAI, said

CHAT = {"model": "gpt-6", "messages": [{"role": "user", "content": "hi"}]}
MESSAGES = "/v1/messages"


def test_requests_are_logged_in_the_order_of_their_arrival() -> None:
    with ScriptedModel(["one", "two", "three"]) as model:
        wire.post(model, "/v1/messages?beta=true", request(user("first")), {**ANTHROPIC, "X-Mark": "m"})
        wire.post(model, "/v1/chat/completions", CHAT, OPENAI)
        wire.post(model, "/v1/responses", {"model": "gpt-6", "input": "third"}, OPENAI)
        assert [(each.number, each.api) for each in model.requests] == [
            (1, Api.ANTHROPIC_MESSAGES),
            (2, Api.OPENAI_CHAT),
            (3, Api.OPENAI_RESPONSES),
        ]
        first = model.requests[0]
        assert first.path == "/v1/messages?beta=true"
        assert first.headers["x-mark"] == "m"
        assert first.body == request(user("first"))
        assert (first.text, first.refusal) == ("first", None)


async def test_a_test_waits_for_the_nth_request() -> None:
    async with ScriptedModel(["one", "two"]) as model:
        awaited = asyncio.create_task(model.request(2))
        for text in ("first", "second"):
            await asyncio.to_thread(wire.post, model, MESSAGES, request(user(text)), ANTHROPIC)
        assert (await awaited).text == "second"
        assert (await model.request(1)).text == "first"
        assert model.wait_for_request(2).text == "second"


async def test_a_wait_has_a_limit_and_reports_the_number_of_requests() -> None:
    async with ScriptedModel(["one"]) as model:
        await asyncio.to_thread(wire.post, model, MESSAGES, request(), ANTHROPIC)
        with pytest.raises(TimeoutError, match=r"request 2 did not come within 0.01 s; 1 came"):
            await model.request(2, limit=0.01)
        with pytest.raises(TimeoutError, match="1 came"):
            model.wait_for_request(2, limit=0.01)


def test_a_program_finds_the_model_by_its_environment() -> None:
    program = (
        "import anthropic, openai\n"
        "print(openai.OpenAI().responses.create(model='gpt-6', input='hi').output_text)\n"
        "print(anthropic.Anthropic().messages.create(\n"
        "    model='claude-opus-5', max_tokens=9, messages=[{'role': 'user', 'content': 'hi'}]).content[0].text)\n"
    )
    with ScriptedModel(["one", "two"], key="secret") as model:
        environment = {**os.environ, **model.environment}
        ran = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=30, check=True
        )
        assert ran.stdout.split() == ["one", "two"]
        assert model.wait_for_request(2).api is Api.ANTHROPIC_MESSAGES


def test_a_script_may_be_a_function_of_the_request() -> None:
    def play(request: ModelRequest) -> Line:
        return f"You said {request.text}." if request.number > 1 else ToolCall("look")

    with ScriptedModel(play) as model:
        first = wire.post(model, MESSAGES, request(user("hi")), ANTHROPIC)
        assert first.body["stop_reason"] == "tool_use"
        assert said(wire.post(model, MESSAGES, request(user("so")), ANTHROPIC)) == "You said so."


def test_a_script_may_go_on_for_ever() -> None:
    def again() -> Iterator[Line]:
        while True:
            yield "again"

    with ScriptedModel(again()) as model:
        assert [said(wire.post(model, MESSAGES, request(), ANTHROPIC)) for _ in range(3)] == ["again"] * 3


def test_an_assertion_in_a_script_fails_the_test() -> None:
    def play(request: ModelRequest) -> Line:
        assert "magic" in request.text, "no magic"
        return "fine"

    def run() -> None:
        with ScriptedModel(play) as model:
            statuses.extend(
                wire.post(model, MESSAGES, request(user(text)), ANTHROPIC).status for text in ("magic", "hi")
            )

    statuses: list[int] = []
    with pytest.raises(AssertionError, match="no magic"):
        run()
    assert statuses == [200, 400]


async def test_arguments_that_cannot_be_encoded_fail_the_test() -> None:
    async def run() -> None:
        async with ScriptedModel([ToolCall("look", "[]")]) as model:
            await asyncio.to_thread(wire.post, model, MESSAGES, request(), ANTHROPIC)

    with pytest.raises(ValueError, match="no object"):
        await run()


def test_a_request_after_the_end_of_the_script_is_refused_with_a_reason() -> None:
    with ScriptedModel(["one"]) as model:
        wire.post(model, MESSAGES, request(), ANTHROPIC)
        over = wire.post(model, MESSAGES, request(), ANTHROPIC)
        assert over.status == 400
        assert "the script is over: request 2 came, and it had 1 turns" in str(over.body)


def test_a_refused_request_takes_no_turn_and_is_logged() -> None:
    with ScriptedModel(["one"]) as model:
        assert wire.post(model, MESSAGES, request(max_tokens="many"), ANTHROPIC).status == 400
        assert said(wire.post(model, MESSAGES, request(), ANTHROPIC)) == "one"
        refusal = model.requests[0].refusal
        assert refusal is not None
        assert "max_tokens" in refusal.message


def test_the_model_can_be_configured_to_answer_invalid_requests() -> None:
    wrong = request(user("hi"), max_tokens="many")
    with ScriptedModel(["one"], refuses_invalid=False) as model:
        assert said(wire.post(model, MESSAGES, wrong, ANTHROPIC)) == "one"
        assert model.requests[0].refusal is not None
        assert model.requests[0].text == "hi"
