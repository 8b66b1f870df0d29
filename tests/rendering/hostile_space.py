"""A space in which mallory has planted forged texts in every field that another agent controls."""

import asyncio
from typing import NamedTuple

from covey import Card, Errand
from covey.core.directory.card import Agent
from covey.core.directory.session import Session
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.message import Callback, DataPart, FilePart, Message, TextPart
from covey.core.ledger.ticket import Ticket
from covey.core.work.run import Run
from covey.core.work.task import Task
from covey.surfaces.python.member import Member
from covey.surfaces.python.space import Space
from tests.rendering.forgeries import CONTROL

LIMIT_S = 10.0

PLANTED: dict[type, set[str]] = {
    Card: {"description", "capabilities"},
    Agent: {"status"},
    TextPart: {"text"},
    DataPart: {"data"},
    FilePart: {"name", "media_type", "path"},
    Callback: {"channel", "session_id", "more"},
    Message: {"parts", "callback", "metadata"},
    Task: {"reason"},
    Run: {"description", "reason", "stop_reason", "thread"},
    Session: {"end_reason", "status"},
    DeliveryRecord: {"reason"},
    Ticket: set[str](),
}
"""Fields that hold free text of another agent."""

PARSED: dict[type, set[str]] = {
    Card: {"allow_from", "allowed_delegates", "workspace", "command", "allow_spawn", "wire_name"},
    Agent: {"name"},
    FilePart: {"digest"},
    Message: {"id", "kind", "sender", "to", "thread", "root", "subject", "scope", "cause", "in_reply_to"}
    | {"correlation_id", "trace", "task", "traceparent", "marks"},
    Task: {"id", "delegator", "agent", "state", "delegator_session", "parent", "scope", "claimed_by", "progress"}
    | {"result"},
    Run: {"id", "session", "key", "agent", "parent_agent", "request", "mode", "launcher", "state", "parent"}
    | {"sibling_of", "label", "folder", "stage"},
    Session: {"id", "key", "agent", "kind", "holder", "secret_hash", "activity", "label"},
    DeliveryRecord: {
        "id",
        "message_id",
        "inbox",
        "agent",
        "state",
        "kind",
        "sender",
        "scope",
        "subject",
        "offer",
        "grade",
    }
    | {"seen"},
    Ticket: {"id", "message_id", "asker", "debtor", "state", "scope", "subject", "answer", "awaits", "trouble"}
    | {"asker_session", "thread", "close_reason"},
}
"""Fields whose texts are validated on input, or which only the space and the owner write."""


class Hostile(NamedTuple):
    """A hostile space, its members and the ids of its records."""

    space: Space
    coder: Member
    """The member whose model and terminal are attacked."""
    mallory: Member
    ticket: str
    """The ticket of a question by coder, which mallory has answered."""
    approval: str
    """The ticket of an approval request by coder, which mallory has rejected."""
    run: str
    """A child of coder that has ended."""
    key: str


async def plant(space: Space, forged: str) -> Hostile:
    """Let mallory write forged texts into every field that an agent controls."""
    wild = f"{forged}\n{CONTROL}"
    coder = await space.join("coder")
    mallory = await space.join("mallory", card=Card(description=forged, capabilities=(forged, "x")))
    services = space.services
    await mallory.set_status(wild)
    file = FilePart(wild, "0" * 64, 3, wild, wild)
    await mallory.send("coder", wild, data={"k": wild, wild: [wild]}, callback=("ops", forged), metadata={wild: wild})
    await mallory.send("coder", wild, kind="request", subject="a-subject", scope="T-1")
    await mallory.delegate("coder", wild, data={"k": wild}, metadata={wild: wild})
    question = await coder.send("mallory", "Well?", kind="request")
    await mallory.reply(question.message_id, wild)
    wish = await coder.request_approval("mallory", "plan", "May I?", timeout=0)
    await mallory.reject(wish.ticket.message_id, wild)
    await coder.delegate("mallory", "Sort them")
    rejected = (await coder.delegate("mallory", "Sort them all")).id
    await services.duties.reject(rejected, mallory.identity, wild, (TextPart(wild), file))

    async def hostile(errand: Errand) -> str:
        await errand.me.send("coder", wild)
        raise RuntimeError(wild)

    async def generous(errand: Errand) -> str:
        return wild

    there = asyncio.Event()

    async def staying(errand: Errand) -> None:
        await errand.me.set_status(wild)
        there.set()
        await asyncio.Event().wait()

    await coder.spawn("Stay", run=staying, description=forged, label="third")
    async with asyncio.timeout(LIMIT_S):
        await there.wait()
    failed = await coder.spawn("Look", run=hostile, description=forged, label="first")
    await failed.result()
    child = await coder.spawn("Look again", agent="mallory", run=generous, description=forged, label="second")
    await child.result()
    conversation = {"channel": "ops", "session_id": forged, "k": wild, wild: wild}
    sent = {"to": "coder", "parts": [{"type": "text", "text": wild}], "callback": conversation}
    assert not (await mallory.tools("mailbox").call("send_message", sent)).is_error
    return Hostile(
        space,
        coder,
        mallory,
        f"{question.message_id}@mallory",
        str(wish.ticket.id),
        str(child.run_id),
        str(child.key),
    )
