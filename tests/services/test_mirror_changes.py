"""Notes of a commit: the page noted in the transaction equals the page that a reader finds after it."""

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
from covey.services.mirror.changes import NOTHING, EventPage, chained, read_page, recording, targets_of, touched
from covey.testing.records import START, a_message_id
from tests.services.shared_folder import Shared, opened

BOB = Identity(AgentName("bob"))


def event(position: int, message: int = 1) -> Event:
    return Event(Action.MESSAGE_SENT, BOB, START, a_message_id(message), None, None, {}, position)


def page(after: int, *events: Event) -> EventPage:
    return EventPage(after, events, events[-1].position if events else after, dict.fromkeys(touched(events), ()))


def test_consecutive_pages_are_joined() -> None:
    pages = [page(5, event(7, 2)), page(2), page(2, event(5, 1)), page(7)]
    assert chained(2, pages) == EventPage(2, [event(5, 1), event(7, 2)], 7, {a_message_id(1): (), a_message_id(2): ()})


def test_pages_after_a_gap_are_not_joined() -> None:
    found = chained(2, [page(2, event(5)), page(8, event(9))])
    assert found is not None
    assert ([one.position for one in found.events], found.last) == ([5], 9)


@pytest.mark.parametrize("after", [1, 3, 9])
def test_pages_that_do_not_begin_at_the_folders_position_are_ignored(after: int) -> None:
    assert chained(after, [page(2, event(5)), page(5, event(9))]) is None
    assert chained(after, []) is None


def test_a_later_page_without_standings_invalidates_earlier_ones() -> None:
    unseen = EventPage(5, [event(7)], 7, NOTHING)
    found = chained(2, [page(2, event(5)), unseen])
    assert found is not None
    assert found.stands == {}


async def check(shared: Shared, noted: EventPage) -> None:
    """Compare the noted page with the ledger."""
    read = await shared.ledger.read(lambda tx: read_page(tx, noted.after))
    assert (list(noted.events), noted.last) == (list(read.events), read.last)
    assert list(noted.stands) == list(dict.fromkeys(touched(noted.events)))
    for message_id, stands in noted.stands.items():
        found = list(await shared.ledger.read(lambda tx, one=message_id: targets_of(tx, shared.layout, one)))
        assert [stand._replace(document=None) for stand in stands] == found
        is_new = any(event.action is Action.MESSAGE_SENT and event.message_id == message_id for event in noted.events)
        assert [stand.document for stand in stands] == [encode(one.message) if is_new else None for one in found]


@pytest.mark.parametrize("layout", Layout)
async def test_the_noted_page_equals_the_ledger(
    tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path / "shared", layout) as shared:
        pages: list[EventPage] = []
        run = shared.mirror.run

        async def note_and_run(noted: Collection[EventPage] = ()) -> None:
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


async def test_a_commit_without_changes_notes_an_empty_page(tmp_path: Path) -> None:
    async with opened(tmp_path / "shared", Layout.DIALOGUE) as shared:

        async def nothing(tx: Transaction) -> str:
            await tx.journal.last()
            return "done"

        value, noted = await shared.ledger.commit(recording(nothing, shared.layout))
        last = await shared.ledger.read(lambda tx: tx.journal.last())
        assert (value, noted) == ("done", EventPage(last, (), last))
