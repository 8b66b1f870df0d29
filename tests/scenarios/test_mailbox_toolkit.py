"""The mailbox toolkit: the registry, and messages with the documented fields, in parts."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import covey
from covey.core.formats.mailbox import mailbox_document
from covey.core.identity import parse_address
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Callback, FilePart, Kind, TaskRef, TextPart
from covey.core.ledger.offer import EvidenceGrade
from covey.core.ledger.ticket import TicketState
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.python.member import Member
from covey.toolkits.tool import ToolAnswer
from tests.scenarios.tools import fields, refusal, use
from tests.scenarios.world import World, waiting

NOW = "2026-01-01T00:00:00.000000+00:00"


async def send(member: Member, to: str, *parts: dict[str, Json], **more: Json) -> ToolAnswer:
    return await use(member, "mailbox", "send_message", to=to, parts=parts, **more)


def text(words: str) -> dict[str, Json]:
    return {"type": "text", "text": words}


@pytest.mark.requirement("mailbox.registry")
async def test_the_registry_has_its_nine_fields(world: World) -> None:
    card = {"description": "finds things", "capabilities": ["web_search"], "allow_from": ["coder"], "quota": 2}
    researcher = await world.process().join("researcher", card=card)
    (coder,) = await world.join("coder")
    await researcher.set_busy()
    answer = await use(coder, "mailbox", "list_agents")
    assert fields(answer)["agents"][1] == {
        "agent_id": "researcher",
        "description": "finds things",
        "capabilities": ["web_search"],
        "status": "busy",
        "allow_from": ["coder"],
        "max_concurrent_tasks": 2,
        "current_tasks": [],
        "registered_at": NOW,
        "last_heartbeat": NOW,
    }
    await researcher.leave()
    assert fields(await use(coder, "mailbox", "list_agents"))["agents"][1]["status"] == "offline"
    assert json.loads(answer.text) == answer.data


@pytest.mark.requirement("mailbox.types")
async def test_a_message_has_the_documented_fields(world: World) -> None:
    researcher, coder = await world.join("researcher", "coder")
    answer = await send(
        researcher,
        "coder",
        text("please sort these"),
        {"type": "data", "data": {"order": "mtime"}},
        callback={"session_id": "feishu:user_123", "channel": "feishu"},
        metadata={"priority": 1},
    )
    (delivery,) = await coder.inbox.peek()
    document = {
        "id": delivery.id,
        "from": "researcher",
        "to": "coder",
        "timestamp": NOW,
        "type": "message",
        "ttl": 2,
        "trace": ["researcher"],
        "task": None,
        "content": {
            "parts": [{"type": "text", "text": "please sort these"}, {"type": "data", "data": {"order": "mtime"}}]
        },
        "callback": {"session_id": "feishu:user_123", "channel": "feishu"},
        "reply_to": None,
        "metadata": {"priority": 1},
    }
    assert answer.data == {**document, "delivery": "delivered"}
    assert mailbox_document(delivery.message) == document


@pytest.mark.requirement("mailbox.types")
async def test_a_task_and_its_update_have_the_documented_fields(world: World) -> None:
    researcher, coder = await world.join("researcher", "coder")
    callback = Callback("feishu", "feishu:user_123")
    deadline = datetime(2026, 4, 26, 11, tzinfo=UTC)
    task = Draft(
        Kind.TASK, (parse_address("coder"),), (TextPart("sort"),), callback=callback, deadline=deadline
    )  # delegated tasks have the same form
    sent = (await world.services.mail.send(task, researcher.identity, SendPolicy())).message_id
    document = mailbox_document(await world.services.mail.message(sent))
    assert (document["type"], document["task"]) == (
        "task",
        {"id": sent, "state": "pending", "deadline": "2026-04-26T11:00:00.000000+00:00"},
    )
    update = Draft(Kind.UPDATE, (), (TextPart("on it"),), in_reply_to=sent, task=TaskRef(sent, "working"))
    told = (await world.services.mail.send(update, coder.identity, SendPolicy())).message_id
    document = mailbox_document(await world.services.mail.message(told))
    assert (document["type"], document["task"], document["reply_to"]) == (
        "task_update",
        {"id": sent, "state": "working", "deadline": None},
        sent,
    )
    assert document["callback"] == {"session_id": "feishu:user_123", "channel": "feishu"}


@pytest.mark.requirement("mailbox.types")
@pytest.mark.parametrize("store", ["memory:", "sqlite:{}/covey.db"])
async def test_a_file_is_kept_as_a_snapshot(tmp_path: Path, store: str) -> None:
    original = tmp_path / "report.txt"
    original.write_text("as it was")
    async with covey.open(store.format(tmp_path), roots=[str(tmp_path)]) as space:
        researcher, coder = await space.join("researcher"), await space.join("coder")
        answer = await send(researcher, "coder", {"type": "file", "path": str(original)})
        (part,) = fields(answer)["content"]["parts"]
        assert (part["type"], part["path"], part["size"]) == ("file", str(original), len("as it was"))
        original.unlink()
        (delivery,) = await coder.inbox.peek()
        (kept,) = delivery.files
        assert isinstance(kept, FilePart)
        assert await delivery.file(kept) == b"as it was"


async def test_a_file_outside_the_roots_is_refused_and_nothing_is_sent(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    async with covey.open("memory:", roots=[str(tmp_path / "inside")]) as space:
        researcher, coder = await space.join("researcher"), await space.join("coder")
        for path in (tmp_path / "secret.txt", tmp_path / "inside" / ".." / "secret.txt"):
            answer = await send(researcher, "coder", text("look"), {"type": "file", "path": str(path)})
            assert answer.is_error
            assert "Copy the file into one of these folders" in answer.text
        nowhere = await send(researcher, "coder", {"type": "file", "path": str(tmp_path / "inside" / "no.txt")})
        assert nowhere.is_error
        assert not await waiting(coder)


async def test_an_offline_recipient_gets_the_message_later_and_the_sender_learns_it(world: World) -> None:
    researcher, coder = await world.join("researcher", "coder")
    await coder.leave()
    assert fields(await send(researcher, "coder", text("later")))["delivery"] == "waits until it is back"
    (back,) = await world.join("coder")
    assert await waiting(back) == ["later"]


async def test_a_reply_goes_to_the_sender_and_spends_no_hop(world: World) -> None:
    researcher, coder = await world.join("researcher", "coder")
    await send(researcher, "coder", text("hello"))
    await coder.offer("turn")
    reply = fields(await send(coder, "researcher", text("hi"), reply_to=1))
    (first,) = await researcher.inbox.peek()
    assert (reply["ttl"], reply["trace"], reply["reply_to"]) == (2, ["researcher"], first.message.in_reply_to)
    delivery = await world.delivery(reply["reply_to"])
    assert (delivery.state, delivery.grade) == (DeliveryState.HANDLED, EvidenceGrade.NAMED)


async def test_a_reply_closes_the_question_that_it_answers(world: World) -> None:
    researcher, coder = await world.join("researcher", "coder")
    asked = await researcher.send("coder", "which?", kind="request")
    await send(coder, "researcher", text("the first"), reply_to=asked.message_id)
    assert (await world.ticket(asked.message_id, "coder")).state is TicketState.CLOSED


async def test_passing_a_message_on_spends_a_hop_and_never_goes_back(world: World) -> None:
    a, b, c, d, e = await world.join("a", "b", "c", "d", "e")
    await send(a, "b", text("1"))
    passed = fields(await send(b, "c", text("2"), reply_to=1))
    assert (passed["ttl"], passed["trace"]) == (1, ["a", "b"])
    circle = await send(c, "a", text("3"), reply_to=1)
    assert circle.is_error
    assert "circular-route" in fields(circle)["delivery"]
    await send(c, "d", text("4"), reply_to=1)
    assert "no hops left. Handle the message yourself" in (await send(d, "e", text("5"), reply_to=1)).text
    assert not await waiting(a)
    assert not await waiting(e)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"parts": "hello"}, "use a list of objects (what it says: text parts"),
        ({"parts": []}, "a message has 1 to 256 parts"),
        ({"parts": [{"text": "hi"}]}, "part type is missing: use text or data or file"),
        ({"parts": [{"type": "txt", "text": "hi"}]}, "part type 'txt' is not valid: use text."),
        ({"parts": [{"type": "image", "url": "x"}]}, "part type 'image' is not valid: use text or data or file"),
        ({"parts": [{"type": "text"}]}, 'it needs "text"'),
        ({"parts": [{"type": "text", "text": 5}]}, "text 5 is not valid: use a text"),
        ({"parts": [{"type": "file", "file": "a.txt"}]}, 'it needs "path"'),
        ({"parts": ["hi"]}, "use a list of objects"),
        ({"to": "researcher"}, "that is you"),
        ({"to": "codr"}, "did you mean coder? Known agents: coder."),
        ({"callback": {"channel": "feishu"}}, "use an object with channel and session_id"),
        ({"callback": "feishu"}, "use an object"),
        ({"reply_to": 5}, "researcher has no message with the number 5"),
        ({"content": {"parts": []}}, "send_message takes to, parts, reply_to, callback, metadata"),
    ],
)
async def test_a_wrong_message_is_refused_with_a_reason_and_not_sent(
    world: World, wrong: dict[str, Json], told: str
) -> None:
    researcher, coder = await world.join("researcher", "coder")
    right: dict[str, Json] = {"to": "coder", "parts": [text("hi")]}
    assert told in await refusal(researcher, "mailbox", "send_message", **{**right, **wrong})
    assert not await waiting(coder)


async def test_common_variations_of_arguments_are_understood(world: World) -> None:
    researcher, coder = await world.join("researcher", "coder")
    for parts in (text("one"), '[{"type": "text", "text": "two"}]', '{"type": "text", "text": "three"}'):
        assert not (await use(researcher, "mailbox", "send_message", to=" coder ", parts=parts)).is_error
    assert await waiting(coder) == ["one", "two", "three"]
