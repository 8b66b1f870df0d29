"""Pruning: closed and old threads are removed and leave a tombstone. Open ones stay, whatever their age."""

from collections.abc import Callable, Generator
from datetime import timedelta
from pathlib import Path

import pytest

from covey.adapters.memory import MemoryStore
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.errors import MessagePruned
from covey.core.identity import Identity, parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.offer import EvidenceGrade, Presentation
from covey.core.names import MessageId, Scope, ticket_id
from covey.ports.ledger import EventFilter
from covey.ports.pruning import fingerprint
from covey.ports.store import Store
from covey.services.care.prune import BATCH
from covey.services.care.retention import KeepReason, KeptScope
from covey.services.mail.recipients import SendPolicy
from covey.testing.records import a_message_id
from tests.properties.world import finish
from tests.services.pruning import BOB, DAY, OPS, Story

TO_BOB = (parse_address(BOB),)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Store]:
    sqlite = request.param == "sqlite"
    store = SqliteStore(tmp_path / "covey.db", synchronous="normal") if sqlite else MemoryStore()
    yield store
    finish(store.close())


@pytest.fixture
def story(store: Store) -> Generator[Story]:
    story = Story(store)
    yield story
    assert story.audit() == []


@pytest.mark.requirement("operate.prune")
def test_a_closed_scope_is_pruned_when_it_is_old_and_leaves_a_tombstone(story: Story) -> None:
    asked = story.dialogue("T-1")
    answer = next(m.id for m in finish(story.services.dialogue.thread(asked)) if m.id != asked)
    story.clock.advance(DAY)
    assert story.prune(days=2).removed.messages == 0
    story.clock.advance(DAY + 1)
    outcome = story.prune(days=2)
    assert (outcome.removed.messages, outcome.removed.deliveries, outcome.removed.tickets) == (2, 2, 1)
    assert outcome.removed.offers == 2
    assert not story.is_there(asked)
    assert not story.is_there(answer)
    of_scope, of_offers = story.tombstones()
    assert (of_scope.scope, of_scope.actor) == ("T-1", Identity(OPS))
    assert (of_scope.details["messages"], of_scope.details["tickets"]) == (2, 1)
    assert (of_scope.details["first"], of_scope.details["last"]) == (asked, answer)
    assert of_scope.details["ids"] == fingerprint([answer, asked])
    assert (of_offers.details["offers"], of_offers.details["messages"]) == (2, 0)
    actions = {event.action for event in finish(story.services.history.read())}
    assert actions == {Action.AGENT_REGISTERED, Action.SESSION_JOINED, Action.MESSAGES_PRUNED}
    again = story.prune(days=2)
    assert not any(again.removed)


def _queued(story: Story) -> MessageId:
    return story.send("news", scope="T-1")


def _offered(story: Story) -> MessageId:
    sent = story.send("news", scope="T-1")
    finish(story.services.offers.offer(story.bob, "turn", lease=timedelta(days=500)))
    return sent


def _in_context(story: Story) -> MessageId:
    asked = story.send("well?", scope="T-1", request=True)
    story.show(story.bob)
    return asked


def _open(story: Story) -> MessageId:
    asked = _in_context(story)
    finish(story.services.mail.settle(asked, story.bob))
    return asked


def _answered(story: Story) -> MessageId:
    asked = _in_context(story)
    story.reply(asked)
    story.show(story.ann)
    return asked


def _undeliverable(story: Story) -> MessageId:
    finish(story.services.directory.leave(story.bob))
    asked = story.send("well?", scope="T-1", request=True)
    finish(story.services.mail.withdraw(story.send("news", scope="T-1"), story.ann))
    return asked


@pytest.mark.requirement("operate.prune")
@pytest.mark.parametrize("begin", [_queued, _offered, _in_context, _open, _answered, _undeliverable])
def test_nothing_of_a_scope_is_pruned_while_something_in_it_is_open(
    story: Story, begin: Callable[[Story], MessageId]
) -> None:
    over = story.dialogue("T-1")
    still_open = begin(story)
    story.clock.advance(400 * DAY)
    outcome = story.prune()
    assert outcome.survey.stays == [KeptScope(Scope("T-1"), KeepReason.OPEN)]
    assert outcome.removed.messages == 0
    assert story.is_there(over)
    assert story.is_there(still_open)


@pytest.mark.requirement("operate.prune")
def test_a_pruned_message_is_never_accepted_again(story: Story) -> None:
    asked = story.dialogue("T-1")
    reply = story.reply(story.dialogue("T-2"))
    story.show(story.ann)
    story.clock.advance(2 * DAY)
    story.prune()
    services = story.services
    again = Draft(Kind.REQUEST, TO_BOB, (TextPart("well?"),), id=asked)
    for draft in (again, Draft(Kind.RESPONSE, (), (TextPart("x"),), in_reply_to=reply)):
        with pytest.raises(MessagePruned):
            finish(services.mail.send(draft, story.ann, SendPolicy()))
    with pytest.raises(MessagePruned):
        finish(services.mail.receipt(asked))
    with pytest.raises(MessagePruned):
        finish(services.dialogue.thread(asked))
    assert story.prune(days=0).removed.messages == 0


def test_a_repeated_relay_is_recognised_after_the_relayed_message_was_pruned(story: Story) -> None:
    news = story.send("news")
    story.show(story.bob)
    relay = Draft(Kind.NOTIFY, TO_BOB, (TextPart("fyi"),), relaying=news, scope=Scope("T-1"), id=a_message_id(4711))
    first = finish(story.services.mail.send(relay, story.ann, SendPolicy()))
    story.clock.advance(2 * DAY)
    assert story.prune().removed.messages == 1
    assert not story.is_there(news)
    again = finish(story.services.mail.send(relay, story.ann, SendPolicy()))
    assert again.message_id == first.message_id
    with pytest.raises(MessagePruned):
        finish(story.services.mail.send(relay._replace(id=None), story.ann, SendPolicy()))


def test_threads_without_a_scope_are_pruned_one_by_one(story: Story) -> None:
    old = story.dialogue(None)
    waiting = story.send("still there?", request=True)
    in_a_scope = story.dialogue("T-1")
    story.clock.advance(2 * DAY)
    young = story.dialogue(None)
    outcome = story.prune(unscoped=True)
    assert [(closed.scope, closed.threads) for closed in outcome.survey.closed] == [(None, 1)]
    assert [story.is_there(m) for m in (old, waiting, in_a_scope, young)] == [False, True, True, True]
    assert story.tombstones()[0].scope is None


def test_one_scope_can_be_chosen(story: Story) -> None:
    chosen, other, loose = story.dialogue("T-1"), story.dialogue("T-2"), story.dialogue(None)
    story.clock.advance(2 * DAY)
    story.prune(scope="T-1")
    assert [story.is_there(m) for m in (chosen, other, loose)] == [False, True, True]
    assert story.prune(scope="T-9").survey.stays == [KeptScope(Scope("T-9"), KeepReason.ABSENT)]


def test_a_thread_that_spans_two_scopes_is_pruned_when_both_are_closed(story: Story) -> None:
    asked = story.send("well?", scope="T-1", request=True)
    story.show(story.bob)
    answer = story.reply(asked, scope="T-2")
    story.show(story.ann)
    finish(story.services.dialogue.archive(asked, story.bob))
    by_itself = story.dialogue("T-1")
    waiting = story.send("news", scope="T-2")
    story.clock.advance(2 * DAY)
    story.prune()
    assert [story.is_there(m) for m in (asked, answer, by_itself, waiting)] == [True, True, False, True]
    story.prune(scope="T-1")
    assert story.is_there(asked)
    finish(story.services.mail.settle(waiting, story.bob))
    story.clock.advance(2 * DAY)
    story.prune()
    assert [story.is_there(m) for m in (asked, answer, waiting)] == [False, False, False]


def test_a_scope_with_recent_activity_stays_as_a_whole(story: Story) -> None:
    old = story.dialogue("T-1")
    late = story.send("news", scope="T-1")
    story.clock.advance(2 * DAY)
    finish(story.services.mail.settle(late, story.bob))
    assert story.prune().survey.stays == [KeptScope(Scope("T-1"), KeepReason.YOUNG)]
    assert story.is_there(old)


def test_an_offer_stays_while_a_delivery_that_it_showed_stays(story: Story) -> None:
    goes = story.send("one", scope="T-1")
    stays = story.send("two", scope="T-2", request=True)
    showing = finish(story.services.offers.offer(story.bob, "turn", presentation=Presentation.ONCE))
    assert showing is not None
    assert len(showing.items) == 2
    finish(story.services.offers.confirm(showing.offer.id, story.bob, EvidenceGrade.NAMED, "a test"))
    story.clock.advance(2 * DAY)
    assert story.prune().removed.offers == 0
    assert not story.is_there(goes)
    finish(story.services.offers.confirm(showing.offer.id, story.bob, EvidenceGrade.WITNESSED, "late"))
    assert story.audit() == []
    story.reply(stays)
    story.show(story.ann)
    finish(story.services.dialogue.archive(stays, story.bob))
    story.clock.advance(2 * DAY)
    assert story.prune().removed.offers == 2


def test_a_thread_longer_than_a_batch_is_pruned_in_parts_from_its_end(story: Story) -> None:
    asked = story.send("well?", scope="T-1", request=True)
    story.show(story.bob)
    for n in range(BATCH + 20):
        story.reply(asked, f"answer {n}")
    story.show(story.ann)
    story.show(story.ann)
    finish(story.services.dialogue.archive(asked, story.bob))
    story.clock.advance(2 * DAY)
    outcome = story.prune()
    assert outcome.removed.messages == BATCH + 21
    assert [t.details["messages"] for t in story.tombstones() if t.scope] == [BATCH, 21]
    assert story.tombstones()[1].details["first"] == asked


def test_a_survey_changes_nothing(story: Story) -> None:
    story.dialogue("T-1")
    story.clock.advance(2 * DAY)
    before = finish(story.services.history.last())
    found = story.survey(story.wanted())
    assert [(closed.scope, closed.threads, closed.messages) for closed in found.closed] == [("T-1", 1, 2)]
    assert finish(story.services.history.last()) == before


def test_files_are_removed_with_their_last_message(story: Story) -> None:
    shared, own, unsent, fresh = (finish(story.blobs.put(content)) for content in (b"1", b"2", b"3", b"4"))
    gone = story.send("a", scope="T-1", files=[shared, own])
    story.show(story.bob)
    story.send("b", scope="T-2", files=[shared])
    story.clock.advance(2 * DAY)
    for digest in (shared, own, unsent):
        story.blobs.used_at[digest] -= DAY
    assert story.prune().blobs == 2
    assert not story.is_there(gone)
    assert sorted(story.blobs.contents) == sorted([shared, fresh])


def test_a_reply_between_survey_and_prune_keeps_the_thread(story: Story, store: Store) -> None:
    asked = story.dialogue("T-1")
    story.clock.advance(2 * DAY)
    wanted = story.wanted()
    assert story.survey(wanted).messages == 2
    late = story.reply(asked, "one more thing")
    assert story.prune_as(wanted).removed.messages == 0
    assert story.is_there(asked)
    assert story.state(late) is DeliveryState.QUEUED
    ticket = finish(store.read(lambda tx: tx.tickets.get(ticket_id(asked, BOB))))
    assert ticket is not None


def test_the_log_of_a_scope_ends_with_its_tombstone(story: Story) -> None:
    story.dialogue("T-1")
    story.clock.advance(2 * DAY)
    story.prune()
    (event,) = finish(story.services.history.read(wanted=EventFilter(scope=Scope("T-1"))))
    assert event.action is Action.MESSAGES_PRUNED
