"""Models that bind their thoughts: a thought is only valid after the exact conversation that it came from."""

from collections.abc import Sequence

import pytest

from covey.core.json import Json, JsonObject
from covey.testing.models import ScriptedModel, Thought, say
from covey.testing.models.request import objects
from tests.testing.models import wire
from tests.testing.models.claude import NEW, TOOLS, assistant, request, user
from tests.testing.models.wire import ANTHROPIC

BETA = "thinking-binding-controls-2026-08-01"
DROPPING: JsonObject = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
THINKER = [say(Thought("hm"), "one"), say(Thought("so"), "two"), "three"]
INJECTED = user("You have mail.")


def send(model: ScriptedModel, messages: Sequence[JsonObject], name: str = NEW, **fields: Json) -> wire.Answer:
    body = request(*messages, model=name, tools=TOOLS, **fields)
    headers = {**ANTHROPIC, "anthropic-beta": BETA} if "thinking" in fields else ANTHROPIC
    return wire.post(model, "/v1/messages", body, headers)


def talk(model: ScriptedModel, *before: JsonObject, name: str = NEW) -> list[JsonObject]:
    """Say something, and return the conversation with the answer."""
    messages = [*before, user("well?")]
    answer = send(model, messages, name)
    assert answer.status == 200, answer.body
    return [*messages, {"role": "assistant", "content": answer.body["content"]}]


def test_a_conversation_that_only_grows_is_taken() -> None:
    with ScriptedModel(THINKER) as model:
        once = talk(model, user("hi"))
        twice = talk(model, *once)
        assert send(model, [*twice, user("and?")]).status == 200


def test_a_reminder_that_is_taken_out_again_is_noticed() -> None:
    with ScriptedModel(THINKER) as model:
        talked = talk(model, user("hi"), INJECTED)
        without = [message for message in talked if message != INJECTED]
        answer = send(model, [*without, user("and?")])
        assert answer.status == 400
        assert "The block is bound to a different conversation" in str(answer.body)
        assert BETA in str(answer.body)


@pytest.mark.parametrize("change", [{"system": "Be brief."}, {"tools": []}])
def test_another_prompt_or_other_tools_are_noticed(change: dict[str, Json]) -> None:
    with ScriptedModel(THINKER) as model:
        talked = talk(model, user("hi"))
        body = request(*talked, user("and?"), model=NEW, **{"tools": TOOLS, **change})
        assert wire.post(model, "/v1/messages", body, ANTHROPIC).status == 400


def test_a_breakpoint_of_the_cache_may_move() -> None:
    with ScriptedModel(THINKER) as model:
        talked = talk(model, user("hi"))
        cached = user({"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}})
        assert send(model, [cached, *talked[1:], user("and?")]).status == 200


def test_thoughts_may_be_left_out_from_the_oldest_on_but_not_between() -> None:
    with ScriptedModel([*THINKER[:2], *THINKER]) as model:
        once = talk(model, user("hi"))
        twice = talk(model, *once)
        thrice = talk(model, *twice)
        places = [place for place, message in enumerate(thrice) if message["role"] == "assistant"]
        for gone, status in ((places[1], 400), (places[0], 200)):
            message = thrice[gone]
            kept = [block for block in objects(message["content"]) if block["type"] != "thinking"]
            messages = [*thrice[:gone], assistant(*kept), *thrice[gone + 1 :], user("and?")]
            assert send(model, messages).status == status


def test_a_client_may_let_such_thoughts_be_dropped_and_learns_which() -> None:
    with ScriptedModel(THINKER) as model:
        talked = talk(model, user("hi"), INJECTED)
        without = [message for message in talked if message != INJECTED]
        answer = send(model, [*without, user("and?")], thinking=DROPPING)
        assert answer.status == 200
        assert answer.body["input_transformations"] == [
            {"type": "thinking_dropped", "path": "messages.2.content.0", "reason": "prefix_binding_mismatch"}
        ]


def test_older_models_do_not_bind_thoughts() -> None:
    with ScriptedModel(THINKER) as model:
        talked = talk(model, user("hi"), INJECTED, name="claude-opus-5")
        without = [message for message in talked if message != INJECTED]
        assert send(model, [*without, user("and?")], "claude-opus-5").status == 200
