"""The toolbox, and what an answer says when something is wrong."""

import html
from typing import Literal

import pytest

import covey
from covey.core import errors
from covey.core.errors import CoveyError, FileOutsideRoots, Invalid, NotYours, StoreBusy
from covey.core.identity import Identity
from covey.core.names import AgentName
from covey.toolkits.answers import ADVICE, LONGEST, advice, refused
from covey.toolkits.catalogue import HOMES, toolkit
from covey.toolkits.tool import Caller
from covey.toolkits.toolbox import Toolbox

CODES = {error.code for error in vars(errors).values() if isinstance(error, type) and issubclass(error, CoveyError)}


def named(kit: str) -> list[str]:
    return [tool.name for tool in toolkit(kit).tools]


async def test_a_toolbox_has_names_words_and_schemas() -> None:
    async with covey.open("memory:") as space:
        tools = (await space.join("coder")).tools("peers,broadcast")
        assert isinstance(tools, covey.Toolbox)
        assert tools.names == tuple(dict.fromkeys([*named("peers"), *named("broadcast")]))
        assert tools.instructions == tools.toolkit.instructions
        assert [schema["name"] for schema in tools.schemas()] == list(tools.names)
        assert repr(tools) == f"<Toolbox peers,broadcast of coder: {', '.join(tools.names)}>"
        with pytest.raises(Invalid):
            (await space.join("critic")).tools("pears,")


@pytest.mark.parametrize("kit", HOMES)
async def test_a_turn_shows_mail_in_the_words_of_the_tools(kit: str) -> None:
    async with covey.open("memory:") as space:
        coder, critic = await space.join("coder"), await space.join("critic")
        await critic.send("coder", "word " * 5_000, kind="request")
        tools = coder.tools(kit)
        async with coder.turn(**tools.showing, budget=3_000) as turn:
            text = turn.text("compact")
        assert f"Answer: {toolkit(kit).ways.answer}" in text
        assert "covey thread" not in text
        assert "covey reply" not in text


@pytest.mark.parametrize("kit", HOMES)
@pytest.mark.parametrize("style", ["compact", "peers", "broadcast"])
async def test_a_turn_says_how_to_decide_in_the_words_of_the_tools(
    kit: str, style: Literal["compact", "peers", "broadcast"]
) -> None:
    async with covey.open("memory:") as space:
        coder, critic = await space.join("coder"), await space.join("critic")
        asked = (await critic.request_approval("coder", "plan", "word " * 5_000, timeout=0)).ticket
        tools = coder.tools(kit)
        async with coder.turn(**tools.showing, budget=3_000) as turn:
            text = turn.text(style)
        decide = toolkit(kit).ways.decide.format(agent="coder", number=1, message=asked.message_id)
        plain = html.unescape(text) if style == "peers" else text.replace('\\"', '"')
        assert decide in plain
        assert "plan_approval_request" in text
        assert len(text) <= 3_000
        assert "Answer: " not in text
        assert "covey approve" not in text


async def test_a_number_that_there_is_not_is_told_with_those_that_there_are() -> None:
    async with covey.open("memory:") as space:
        coder, critic = await space.join("coder"), await space.join("critic")
        await critic.send("coder", "hello")
        tools = coder.tools()
        told = (await tools.call("send_message", {"reply_to": 5, "message": "hi"})).text
        assert told == "coder has no message with the number 5. Waiting: #1 from critic."
        stranger = Toolbox(tools.toolkit, Caller(space.services, Identity(AgentName("stranger"))))
        told = (await stranger.call("read_inbox", {"message": 5})).text
        assert told == "stranger has no message with the number 5."


def test_an_error_is_told_with_what_to_do_and_as_data() -> None:
    answer = refused(NotYours("archive", "ID", "coder", "critic"))
    told = "coder can't archive message ID: only critic or the operator can"
    assert answer.text == f"{told}. Leave it to the agent that it belongs to."
    assert answer.is_error
    assert answer.data == {
        "error": {
            "code": "not-yours",
            "message": told,
            "details": {"action": "archive", "message_id": "ID", "agent": "coder", "owner": "critic"},
            "advice": "Leave it to the agent that it belongs to.",
        }
    }
    assert refused(StoreBusy("x", 5), "Do something else.").text.endswith(". Do something else.")


def test_what_was_wrong_is_told_in_a_few_words() -> None:
    answer = refused(FileOutsideRoots("x" * 100_000, []))
    assert len(answer.text) < 2 * LONGEST
    assert len(str(answer.data)) < 4 * LONGEST


def test_advice_is_for_errors_that_there_are() -> None:
    assert set(ADVICE) <= CODES


@pytest.mark.parametrize("code", ADVICE)
def test_a_model_is_not_told_to_type_commands(code: str) -> None:
    assert not [word for word in ("`", "--", "covey") if word in ADVICE[code].lower()]


def test_what_is_wrong_with_a_value_says_all_itself() -> None:
    assert advice(Invalid("x", 1, "use 2")) == ""
