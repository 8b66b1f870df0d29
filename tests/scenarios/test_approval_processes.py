"""Approvals between real processes over a real file: askers and deciders, some of which are killed."""

from collections import Counter

import pytest

import covey
from covey.core.names import JOURNAL_TOPIC
from covey.core.work.approval import ApprovalState
from tests.scenarios.playing import Start, go, told
from tests.scenarios.world import LIMIT_S, soon, waiting

pytestmark = pytest.mark.requirement("peers.approvals")

ASKED = "1767225600000-33333333-0000-4000-8000-000000000000"
TICKET = f"{ASKED}@bob"


@pytest.mark.parametrize("word", ["approved", "rejected"])
async def test_a_decision_wakes_the_asker_in_another_process(url: str, start: Start, word: str) -> None:
    async with covey.open(url) as space:
        bob = await space.join("bob")
        asker, decider = start("request", ASKED), start("decide", ASKED, word)
        go([asker])
        assert await soon(bob.inbox.next(timeout=LIMIT_S)) is not None
        go([decider])
        assert told(decider) == word
        assert told(asker) == [word, "" if word == "approved" else "no"]
        assert not await bob.owed()


async def test_an_asker_that_is_killed_gets_the_decision_by_its_ticket(url: str, start: Start) -> None:
    async with covey.open(url) as space:
        bob = await space.join("bob")
        asker = start("request", ASKED)
        go([asker])
        delivery = await soon(bob.inbox.next(timeout=LIMIT_S))
        assert delivery is not None
        asker.kill()
        await delivery.approve("go on")
        alice = await space.join("alice")
        assert await waiting(alice) == ["Approved: go on"]
        approval = await alice.resume_approval(TICKET, timeout=0)
        assert (approval.state, approval.reason) == (ApprovalState.APPROVED, "go on")
        assert await waiting(alice) == []


async def test_a_decider_that_is_killed_leaves_the_decision_to_its_next_session(url: str, start: Start) -> None:
    async with covey.open(url) as space:
        first, asker = start("stay", "bob"), start("request", ASKED)
        go([first])
        assert told(first)
        go([asker])
        watcher = await space.join("carol")
        await soon(space.services.waiting.until([JOURNAL_TOPIC], lambda: _is_asked(watcher), LIMIT_S))
        first.kill()
        bob = await space.join("bob")
        delivery = await soon(bob.inbox.next(timeout=LIMIT_S))
        assert delivery is not None
        await delivery.reject("not now")
        assert told(asker) == ["rejected", "not now"]


async def _is_asked(member: covey.Member) -> bool | None:
    """Return True if the request was accepted, otherwise None."""
    try:
        return bool((await member.receipt(ASKED)).deliveries) or None
    except covey.NotFound:
        return None


async def test_of_several_simultaneous_decisions_the_first_counts_and_a_different_one_is_refused(
    url: str, start: Start
) -> None:
    async with covey.open(url) as space:
        alice, _bob = await space.join("alice"), await space.join("bob")
        await alice.request_approval("bob", "plan", "the plan", timeout=0, id=ASKED)
        words = ["approved", "rejected"] * 2
        deciders = [start("decide", ASKED, word) for word in words]
        go(deciders)
        ends = Counter(str(told(one)) for one in deciders)
        approval = await alice.resume_approval(TICKET, timeout=0)
        assert approval.state in (ApprovalState.APPROVED, ApprovalState.REJECTED)
        assert ends == {str(approval.state): 2, "already-decided": 2}
        assert len(await space.services.dialogue.thread(approval.ticket.message_id)) == 2
