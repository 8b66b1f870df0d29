"""What a commit did, noted in its own transaction, is what a reader would find after it."""

from collections.abc import Collection
from pathlib import Path

import pytest

from covey.core.formats.layout import Layout
from covey.core.identity import Identity
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind
from covey.core.ledger.wire import encode
from covey.core.names import AgentName, Scope
from covey.ports.store import Transaction
from covey.services.mirror.noting import NOTHING, Page, chained, noting, read_page, touched
from covey.services.mirror.standing import standing_of
from covey.testing.records import START, a_message_id
from tests.services.shared_folder import Shared, opened

BOB = Identity(AgentName("bob"))


def event(position: int, message: int = 1) -> Event:
    return Event(Action.MESSAGE_SENT, BOB, START, a_message_id(message), None, None, {}, position)


def page(after: int, *events: Event) -> Page:
    return Page(after, events, events[-1].position if events else after, dict.fromkeys(touched(events), ()))


def test_pages_that_follow_each_other_are_one() -> None:
    pages = [page(5, event(7, 2)), page(2), page(2, event(5, 1)), page(7)]
    assert chained(2, pages) == Page(2, [event(5, 1), event(7, 2)], 7, {a_message_id(1): (), a_message_id(2): ()})


def test_what_comes_after_a_gap_is_left_to_be_read() -> None:
    found = chained(2, [page(2, event(5)), page(8, event(9))])
    assert found is not None
    assert ([one.position for one in found.events], found.last) == ([5], 9)


@pytest.mark.parametrize("after", [1, 3, 9])
def test_what_does_not_begin_where_the_folder_stands_counts_for_nothing(after: int) -> None:
    assert chained(after, [page(2, event(5)), page(5, event(9))]) is None
    assert chained(after, []) is None


def test_what_was_not_seen_later_is_not_known_from_before() -> None:
    unseen = Page(5, [event(7)], 7, NOTHING)
    found = chained(2, [page(2, event(5)), unseen])
    assert found is not None
    assert found.stands == {}


async def check(shared: Shared, noted: Page) -> None:
    """Compare what was noted with what the ledger says."""
    read = await shared.ledger.read(lambda tx: read_page(tx, noted.after))
    assert (list(noted.events), noted.last) == (list(read.events), read.last)
    assert list(noted.stands) == list(dict.fromkeys(touched(noted.events)))
    for message_id, stands in noted.stands.items():
        found = list(await shared.ledger.read(lambda tx, one=message_id: standing_of(tx, shared.layout, one)))
        assert [stand._replace(document=None) for stand in stands] == found
        is_new = any(event.action is Action.MESSAGE_SENT and event.message_id == message_id for event in noted.events)
        assert [stand.document for stand in stands] == [encode(one.message) if is_new else None for one in found]


@pytest.mark.parametrize("layout", Layout)
async def test_what_is_noted_is_what_the_ledger_says(
    tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path / "shared", layout) as shared:
        pages: list[Page] = []
        run = shared.mirror.run

        async def note_and_run(noted: Collection[Page] = ()) -> None:
            for page in noted:
                await check(shared, page)
            pages.extend(noted)
            await run(noted)

        monkeypatch.setattr(shared.mirror, "run", note_and_run)
        await shared.send("bob", "alice", "hello")
        await shared.send("bob", "alice carol", "to both")
        asked = await shared.ask("bob", "alice", "why?", scope=Scope("M1"))
        await shared.send("alice", "", "because", kind=Kind.RESPONSE, in_reply_to=asked)
        await shared.services.mail.settle(asked, Identity(AgentName("alice")))
        if layout is Layout.DIALOGUE:
            await shared.services.dialogue.archive(asked, Identity(AgentName("alice")))
            await shared.services.dialogue.sweep(Scope("M1"), BOB)
        monkeypatch.undo()
    actions = {event.action for page in pages for event in page.events}
    assert {Action.MESSAGE_SENT, Action.DELIVERY_MOVED} <= actions
    assert any(len(page.events) > 1 for page in pages)
    assert any(len(page.stands) > 1 for page in pages) or any(
        len(stands) > 1 for page in pages for stands in page.stands.values()
    )


async def test_a_commit_that_does_nothing_has_nothing_to_show(tmp_path: Path) -> None:
    async with opened(tmp_path / "shared", Layout.DIALOGUE) as shared:

        async def nothing(tx: Transaction) -> str:
            await tx.journal.last()
            return "done"

        value, noted = await shared.ledger.commit(noting(nothing, shared.layout))
        last = await shared.ledger.read(lambda tx: tx.journal.last())
        assert (value, noted) == ("done", Page(last, (), last))
