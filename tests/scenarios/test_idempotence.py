"""Sending again with the same id: it is always the same message, and has no second effect."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import cast

import pytest

from covey.core.errors import IdReused
from covey.surfaces.python.messages import MessageOptions
from tests.scenarios.world import World, read, waiting

ID = "1767225600000-22222222-0000-4000-8000-000000000000"
FULL: MessageOptions = {
    "id": ID,
    "subject": "merge",
    "scope": "build",
    "round": 2,
    "data": {"numbers": (1, 2.5, None), "nested": [{"a": True}]},
    "correlation_id": "44444444-0000-4000-8000-000000000000",
    "callback": ("feishu", "user_123"),
    "expires_in": timedelta(minutes=5),
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "metadata": {"origin": ["a", "b"]},
}


@pytest.mark.requirement("ledger.states")
async def test_the_same_id_is_the_same_message_at_any_later_time(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    first = await alice.send("bob", "hi", kind="request", **FULL)
    after = await world.position()
    again = await alice.send("bob", "hi", kind="request", **FULL)
    assert (again.message_id, again.deliveries) == (first.message_id, first.deliveries)
    assert await waiting(bob) == ["hi"]
    await read(bob)
    await bob.reply(ID, "yes", close=True)
    await alice.leave()
    world.pass_time(minutes=60 * 24 * 365)
    (heir,) = await world.join("alice")
    before = await world.position()
    late = await heir.send("bob", "hi", kind="request", **FULL)
    assert [d.state for d in late.deliveries] == ["handled"]
    assert await world.position() == before > after
    assert len(await waiting(bob)) == 0


@pytest.mark.requirement("ledger.states")
@pytest.mark.parametrize(
    "change",
    [
        {"text": "ho"},
        {"to": "carol"},
        {"kind": "notify"},
        {"subject": "other"},
        {"scope": "other"},
        {"round": 3},
        {"data": {"numbers": [1]}},
        {"expires_in": timedelta(minutes=6)},
        {"metadata": {}},
    ],
)
async def test_the_same_id_with_another_content_is_refused(world: World, change: dict[str, object]) -> None:
    alice, _bob, _carol = await world.join("alice", "bob", "carol")
    send = cast(Callable[..., Awaitable[object]], alice.send)
    call: dict[str, object] = {"to": "bob", "text": "hi", "kind": "request", **FULL}
    await send(**call)
    before = await world.position()
    with pytest.raises(IdReused) as caught:
        await send(**{**call, **change})
    assert caught.value.code == "message-id-reused"
    assert await world.position() == before


@pytest.mark.requirement("ledger.states")
async def test_another_agent_cannot_use_a_known_id(world: World) -> None:
    alice, _bob, carol = await world.join("alice", "bob", "carol")
    await alice.send("bob", "hi", id=ID)
    with pytest.raises(IdReused):
        await carol.send("bob", "hi", id=ID)


@pytest.mark.requirement("ledger.states")
async def test_a_reply_can_be_repeated_too(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request")
    for _ in range(3):
        receipt = await bob.reply(asked.message_id, "yes", id=ID)
        assert receipt.message_id == ID
    assert await waiting(alice) == ["yes"]


@pytest.mark.requirement("ledger.states")
async def test_a_sent_message_does_not_change_with_the_callers_objects(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    data: dict[str, list[int]] = {"numbers": [1]}
    metadata = {"origin": "here"}
    await alice.send("bob", "hi", data=data, metadata=metadata)
    data["numbers"].append(2)
    metadata["origin"] = "elsewhere"
    (found,) = await bob.inbox.peek()
    assert found.message.metadata == {"origin": "here"}
    assert repr(found.message.parts[1]) == "DataPart(data={'numbers': [1]})"
