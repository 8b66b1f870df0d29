"""Storms and wait circles between real processes over a real file."""

import pytest

import covey
from covey.core.ledger.event import Action
from covey.core.names import JOURNAL_TOPIC, OPERATOR
from covey.core.storms.echo import ROUNDS
from covey.ports.ledger import EventFilter
from tests.scenarios.playing import Start, go, strings, told
from tests.scenarios.world import LIMIT_S, soon


@pytest.mark.requirement("storm.echo")
async def test_two_models_that_thank_each_other_are_stopped_and_both_are_notified(url: str, start: Start) -> None:
    alice = start("polite", "alice", "bob", "Thanks so much!")
    bob = start("polite", "bob", "alice", "You're very welcome!")
    go([alice, bob])
    assert [told(one) for one in (alice, bob)] == ["here", "here"]
    async with covey.open(url) as space:
        starter = await space.join("alice")
        await starter.send("bob", "The parser is done.")
        for one in (alice, bob):
            one.say("go")
        sent = 0
        for one in (alice, bob):
            count, notice = strings(told(one))
            sent += int(count)
            assert "said nothing new" in notice
        assert sent == 2 * ROUNDS
        items = await space.services.inbox.peek(OPERATOR)
        assert ["said nothing new" in item.message.text for item in items] == [True]
        stops = await space.services.history.read(0, 10, EventFilter(action=Action.STORM_STOPPED))
        assert [event.details["code"] for event in stops] == ["echo-storm"]
        assert await space.services.audit.check() == []


@pytest.mark.requirement("storm.cycle")
async def test_a_circle_of_three_asks_is_refused_with_its_path(url: str, start: Start) -> None:
    names = ("alice", "bob", "carol")
    async with covey.open(url) as space:
        for name in names:
            await (await space.join(name)).leave()
        processes = [start("ask_on", name, names[(n + 1) % 3]) for n, name in enumerate(names)]
        for n, process in enumerate(processes[:2]):
            go([process])
            await soon(space.services.waiting.until([JOURNAL_TOPIC], lambda n=n: _waits(space, n + 1), LIMIT_S))
        go([processes[2]])
        assert told(processes[2]) == ["wait-circle", ["carol", "alice", "bob", "carol"]]
        bob, carol = await space.join("bob"), await space.join("carol")
        for member, process in ((carol, processes[1]), (bob, processes[0])):
            await member.reply((await member.owed())[0].message_id, "yes")
            assert told(process) == "replied"


async def _waits(space: covey.Space, count: int) -> bool | None:
    """Return True if `count` waits exist, otherwise None."""
    return len([edge for edge in await space.services.waits.graph() if edge.is_wait]) == count or None


async def test_two_processes_that_send_to_each_other_are_stopped_together_once(url: str, start: Start) -> None:
    async with covey.open(url) as space:
        for name in ("alice", "bob"):
            await (await space.join(name)).leave()
        processes = [start("chat", "alice", "bob"), start("chat", "bob", "alice")]
        go(processes)
        accepted = [int(str(told(process))) for process in processes]
        assert sum(accepted) < 500
        items = await space.services.inbox.peek(OPERATOR)
        assert ["A storm was stopped" in item.message.text for item in items] == [True]
        assert len(await space.services.storms.exchanges()) == 1
