"""The documented negotiation with real processes: two models that know only their tools, and a person who sees the
result."""

import re
from pathlib import Path
from typing import Final

import pytest

import covey
from covey.core.channels.channel import console
from covey.core.channels.post import OWN
from covey.core.directory.card import Card
from covey.core.identity import parse_address
from covey.core.ledger.message import Kind
from covey.core.names import AgentName
from covey.ports.ledger import MessageFilter
from covey.testing.models import EntryKind, Line, ModelRequest, ScriptedModel, ToolCall
from tests.scenarios.playing import Start, go, told
from tests.surfaces.commands import Folder

CHAT: Final = AgentName("chat")
USER: Final = "user_1"
ANNOUNCED: Final = "The code is formatted with Prettier."


@pytest.fixture
def url(tmp_path: Path) -> str:
    (tmp_path / ".covey").mkdir()
    return f"sqlite:{tmp_path}/.covey/covey.db"


def results(request: ModelRequest) -> list[str]:
    """Return the tool results that a model has seen."""
    return [entry.text for entry in request.entries if entry.kind is EntryKind.RESULT]


def letters(request: ModelRequest) -> list[tuple[str, str]]:
    """Return the numbers and texts of the messages that a model was shown."""
    found = re.finditer(r"<peer-message ([^>]*)>\n(.*?)\n</peer-message>", request.text, re.DOTALL)
    numbered = [(re.search(r'number="(\d+)"', letter[1]), letter[2]) for letter in found]
    return [(number[1], text) for number, text in numbered if number is not None]


def say(message: str) -> ToolCall:
    return ToolCall("sessions_send", {"sessionKey": "agent:formatter:main", "message": message, "timeoutSeconds": 20})


def writer(request: ModelRequest) -> Line:
    """Agent A: ask, answer the question back, and end the negotiation."""
    seen = results(request)
    if not seen:
        return say("Format this code")
    if "Which style do you prefer?" in seen[-1]:
        return say("Use Prettier")
    return say("REPLY_SKIP") if '"reply":"Done"' in seen[-1] else "ended"


def formatter(request: ModelRequest) -> Line:
    """Agent B: reply to the message that was shown last, by its number."""
    shown, done = letters(request), len(results(request))
    if len(shown) == done:
        return "waiting"
    number, text = shown[done]
    replies = {"Format this code": "Which style do you prefer?", "Use Prettier": "Done"}
    reply = replies.get(text, ANNOUNCED if "ANNOUNCE_SKIP" in text else "What?")
    return ToolCall("sessions_send", {"replyTo": number, "message": reply})


@pytest.mark.requirement("sessions.rounds", "sessions.send.wait")
async def test_two_models_negotiate_and_the_person_who_asked_sees_the_result(
    url: str, tmp_path: Path, start: Start
) -> None:
    folder = Folder(tmp_path)
    async with ScriptedModel(writer) as a, ScriptedModel(formatter) as b, covey.open(url) as space:
        owner = space.services.identities.claim(AgentName("owner"))
        await space.services.directory.register(AgentName("writer"), Card(), owner)
        await space.services.channels.add(console(CHAT), owner)
        await space.services.channels.bind(CHAT, OWN, parse_address("writer"), owner)
        agents = [start("agent", "writer", "sessions", a.url), start("agent", "formatter", "sessions", b.url)]
        go(agents)
        assert [told(one) for one in agents] == ["joined", "joined"]
        with folder.start("channels", "run", "chat") as pump:
            folder.covey("channels", "say", "chat", USER, "Please have it formatted.")
            assert pump.line() == f"chat/{USER} formatter: {ANNOUNCED}"
        (first,) = await space.services.dialogue.find(MessageFilter(kind=Kind.REQUEST, sender=AgentName("writer")), 1)
        thread = await space.services.dialogue.thread(first.id)
        said = [(m.sender.agent, m.text, m.round) for m in thread if m.kind is not Kind.NOTIFY]
        assert said[:4] == [
            ("writer", "Format this code", 1),
            ("formatter", "Which style do you prefer?", 1),
            ("writer", "Use Prettier", 2),
            ("formatter", "Done", 2),
        ]
        assert [m.text for m in thread if m.kind is Kind.NOTIFY] == ["REPLY_SKIP", ANNOUNCED]
        assert {m.thread for m in thread} == {thread[0].id}
        assert all(request.refusal is None for request in (*a.requests, *b.requests))
        assert await space.services.audit.check() == []
