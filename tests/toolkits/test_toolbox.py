"""The toolbox, and its answers to errors."""

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


async def test_a_toolbox_has_names_instructions_and_schemas() -> None:
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
async def test_a_turn_shows_mail_with_the_names_of_the_tools(kit: str) -> None:
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
async def test_a_turn_says_how_to_decide_with_the_names_of_the_tools(
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


async def test_the_error_for_an_unknown_number_lists_the_waiting_messages() -> None:
    async with covey.open("memory:") as space:
        coder, critic = await space.join("coder"), await space.join("critic")
        await critic.send("coder", "hello")
        tools = coder.tools()
        told = (await tools.call("send_message", {"reply_to": 5, "message": "hi"})).text
        assert told == "coder has no message with the number 5. Waiting: #1 from critic."
        stranger = Toolbox(tools.toolkit, Caller(space.services, Identity(AgentName("stranger"))))
        told = (await stranger.call("read_inbox", {"message": 5})).text
        assert told == "stranger has no message with the number 5."


def test_an_error_has_its_advice_and_is_also_data() -> None:
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


def test_an_error_with_long_values_is_shortened() -> None:
    answer = refused(FileOutsideRoots("x" * 100_000, []))
    assert len(answer.text) < 2 * LONGEST
    assert len(str(answer.data)) < 4 * LONGEST


def test_all_advice_is_for_existing_errors() -> None:
    assert set(ADVICE) <= CODES


@pytest.mark.parametrize("code", ADVICE)
def test_advice_for_a_model_contains_no_commands(code: str) -> None:
    assert not [word for word in ("`", "--", "covey") if word in ADVICE[code].lower()]


def test_an_invalid_value_needs_no_further_advice() -> None:
    assert advice(Invalid("x", 1, "use 2")) == ""
