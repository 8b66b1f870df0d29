"""Transfers of a space: the records that arrive, those that end on the way, and failures."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.adapters.memory import MemoryStore, MemoryViews
from covey.core.channels.channel import console
from covey.core.directory.card import Card
from covey.core.errors import BlobMissing, ExportDamaged, ImportConflict, Unavailable
from covey.core.formats.export import ExportReader, LineWriter
from covey.core.identity import THE_SPACE, Grade, Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import DataPart, FilePart, Kind, Part, TextPart
from covey.core.ledger.offer import EvidenceGrade
from covey.core.names import OPERATOR, AgentName, Scope
from covey.core.work.run import RunState, status_of
from covey.core.work.task import Task, TaskState
from covey.ports.children import ChildResult
from covey.ports.ledger import EventFilter
from covey.ports.store import Transaction
from covey.services.children.request import SpawnRequest
from covey.services.mail.recipients import SendPolicy
from covey.services.transfer import imports as transfer_import
from covey.services.transfer.imports import LEFT_BEHIND, ImportProgress, write_progress
from covey.testing import Died, DyingStore, deaths
from tests.core.strategies import json_values, texts
from tests.properties.world import finish
from tests.services.claiming import claim_next
from tests.services.spaces import Space, in_memory, in_sqlite
from tests.services.transferring import (
    Everything,
    check_equal,
    check_same,
    check_sound,
    everything,
    given_lines,
    nothing,
)

ANN, BOB, CY, DEE, OPS = map(AgentName, ("ann", "bob", "cy", "dee", "ops"))
BOSS = Identity(OPERATOR, None, Grade.TOKEN)


def a_file(space: Space, content: bytes) -> FilePart:
    return FilePart("notes.txt", finish(space.blobs.put(content)), len(content), "text/plain", "/home/ann/notes.txt")


def a_story(space: Space) -> Identity:
    """Create records of every kind. Return bob's live session."""
    services = space.services
    ann, bob = space.join(ANN), space.join(BOB)
    finish(services.identities.create_token(ANN, BOSS, "for the web"))
    finish(services.policies.tell_unauthorized(BOSS))
    asked = space.send(ann, BOB, "did you mean it?", kind=Kind.REQUEST, scope="over")
    shown = finish(services.offers.offer(bob, "1"))
    assert shown is not None
    finish(services.offers.confirm(shown.offer.id, bob, EvidenceGrade.NAMED, "a test"))
    space.send(bob, ANN, "yes", kind=Kind.RESPONSE, scope="over", answers=asked)
    finish(services.dialogue.archive(asked, bob))
    finish(services.dialogue.sweep(Scope("over"), BOSS, "a test"))
    space.send(bob, ANN, a_file(space, b"notes"))
    finish(services.directory.leave(bob))
    later = space.join(BOB)
    for n in range(3):
        space.send(ann, BOB, f"mail {n}")
    space.send(ann, CY, "parked", kind=Kind.REQUEST)
    assert finish(services.offers.offer(later, "2")) is not None
    space.send(ann, BOB, "mail 3", kind=Kind.REQUEST)
    work(space, ann)
    posted(space, ann)
    children(space, ann)
    return later


def work(space: Space, ann: Identity) -> Identity:
    """Give dee tasks in every state, and let her delegate one further. Return her live session."""
    duties = space.services.duties
    dee = space.join(DEE)
    finish(space.services.directory.register(DEE, Card(quota=3), dee))
    done, working, accepted = (space.send(ann, DEE, f"task {n}", kind=Kind.TASK) for n in range(3))
    for task_id in (done, working, accepted):
        finish(duties.accept(task_id, dee))
    for task_id in (done, working):
        finish(duties.start(task_id, dee))
        finish(duties.progress(task_id, dee, (TextPart("half"),)))
    finish(duties.complete(done, dee, (TextPart("here it is"),)))
    refused, cancelled, _ = (space.send(ann, DEE, f"task {n}", kind=Kind.TASK) for n in range(3, 6))
    finish(duties.reject(refused, dee, "no"))
    finish(space.services.tasks.cancel(cancelled, ann))
    part = Draft(Kind.TASK, (parse_address(CY),), (TextPart("a part"),), relaying=working)
    finish(space.services.mail.send(part, dee, SendPolicy()))
    return dee


def children(space: Space, ann: Identity) -> None:
    """Give ann three children that run as cy: one has completed, one runs, and one is asked to stop."""
    finish(space.services.directory.register(CY, Card(command=("work", "{prompt}")), BOSS))
    done, _, stopping = (
        finish(space.services.spawning.spawn(SpawnRequest(f"errand {n}", agent=CY), ann)) for n in range(3)
    )
    finish(space.services.supervision.end(done.id, ChildResult(RunState.COMPLETED, "it is done")))
    finish(space.services.spawning.stop(stopping.id, ann, "no longer needed", 0))


def posted(space: Space, ann: Identity) -> None:
    """Create three posts on a channel: the first is delivered, and the second is being carried."""
    channels, posts = space.services.channels, space.services.posts
    finish(channels.add(console(OPS), BOSS))
    finish(channels.bind(OPS, "c-1", parse_address(BOB), BOSS))
    for n in range(3):
        space.send(ann, OPS, f"post {n}")
    (first,) = finish(posts.take(OPS, 5)).taken
    finish(posts.delivered(first.post.id))
    (second,) = finish(posts.take(OPS, 5)).taken
    assert second.post.holder is not None


def ended(space: Space) -> Space:
    """End all sessions."""

    async def current(tx: Transaction) -> Sequence[Identity]:
        return [Identity(session.agent, session.id, Grade.SESSION) for session in await tx.sessions.current()]

    for member in finish(space.store.read(current)):
        finish(space.services.directory.leave(member))
    return space


@pytest.fixture
def told() -> Space:
    """Return a space with records of every kind."""
    space = in_memory()
    a_story(space)
    return space


def test_every_record_survives_a_transfer_to_any_store(told: Space, tmp_path: Path) -> None:
    first, second, third = ended(told), in_sqlite(tmp_path / "covey.db"), in_memory()
    assert second.take_in(first.lines(with_tokens=True)).is_new
    check_same(first.views, second.views)
    assert third.take_in(second.lines(with_tokens=True)).is_new
    check_same(first.views, third.views)
    assert all(everything(third.views)._replace(pruned=["elsewhere"])), "nothing to compare"
    for space in (second, third):
        check_sound(space.services)
        assert space.kept.contents == first.kept.contents
    finish(second.store.close())


def test_live_sessions_have_ended_after_an_import_and_their_mail_is_parked_in_order(told: Space) -> None:
    before = told.inbox(BOB)
    target = in_memory()
    target.take_in(told.lines())
    check_sound(target.services)
    found = everything(target.views)
    assert all(session.has_ended for session in found.sessions)
    assert all(offer.ended_at is not None for offer in found.offers)
    assert [session.end_reason for session in found.sessions].count(LEFT_BEHIND) == 5
    parked = target.inbox(BOB)
    assert [item.message.text for item in parked] == ["mail 0", "mail 1", "mail 2", "mail 3"]
    assert [item.delivery.number for item in parked] == [item.delivery.number for item in before]
    assert all(item.delivery.is_parked for item in parked)
    assert finish(target.services.dialogue.owed_by(BOB)) == finish(told.services.dialogue.owed_by(BOB))
    bob = target.join(BOB)
    shown = finish(target.services.offers.offer(bob, "there"))
    assert shown is not None
    assert len(shown.offer.deliveries) == 4
    assert target.send(Identity(ANN), BOB, "the next")
    assert target.inbox(BOB)[-1].delivery.number == parked[-1].delivery.number + 1
    check_sound(target.services)


def test_a_task_of_a_live_session_waits_for_the_next_one_and_its_delegator_is_notified(told: Space) -> None:
    target = in_memory()
    target.take_in(told.lines())
    before = {task.id: task for task in everything(told.views).tasks}
    after = everything(target.views).tasks
    assert [task.id for task in after] == list(before)
    left = [task for task in after if task != before[task.id]]
    assert sorted(task.state for task in left) == [TaskState.ACCEPTED, TaskState.WORKING]
    assert all(task.claimed_by is None and task.abandoned_at is not None for task in left)
    finish(target.services.upkeep.tend())
    told_of = [item.message.text for item in target.inbox(ANN)]
    assert sum("has ended. The task waits for the next session." in text for text in told_of) == 2
    dee = target.join(DEE)
    taken = finish(target.services.duties.take(dee))
    assert taken is not None
    assert (taken.task.id, taken.task.attempt) == (left[0].id, before[left[0].id].attempt + 1)
    check_sound(target.services)
    assert len(finish(target.services.tasks.tree(left[0].id))) == 2


def test_a_running_child_is_lost_by_an_import_and_its_parent_is_notified_once(told: Space) -> None:
    target = in_memory()
    target.take_in(told.lines())
    before, after = everything(told.views).runs, everything(target.views).runs
    assert [run.state for run in before] == [RunState.COMPLETED, RunState.RUNNING, RunState.RUNNING]
    assert [run.state for run in after] == [RunState.COMPLETED, RunState.LOST, RunState.LOST]
    assert after[0] == before[0]
    assert [(run.reason, run.is_told, run.ended_at is None) for run in after[1:]] == [(LEFT_BEHIND, False, False)] * 2
    assert after[2].stop_reason == "no longer needed"
    check_sound(target.services)
    for _ in range(2):
        finish(target.services.upkeep.tend())
        answers = [item.message for item in target.inbox(ANN) if item.message.in_reply_to in {r.request for r in after}]
        assert [status_of(answer) for answer in answers] == ["completed", "lost", "lost"]
    waiting = [item.message.id for item in target.inbox(CY)]
    assert not {run.request for run in after} & set(waiting), "nobody else is to do what a child was asked"
    check_sound(target.services)


def test_posts_that_were_being_carried_are_carried_on_after_an_import(told: Space) -> None:
    target = in_memory()
    target.take_in(told.lines())
    assert [post.holder for post in everything(target.views).posts] == [None, None, None]
    target.clock.advance(120)
    (carried,) = finish(target.services.posts.take(OPS, 5)).taken
    assert carried.message.text == "post 1"
    finish(target.services.posts.delivered(carried.post.id))
    assert [each.message.text for each in finish(target.services.posts.take(OPS, 5)).taken] == ["post 2"]
    check_sound(target.services)


def test_imported_posts_of_a_conversation_queue_behind_existing_ones(told: Space) -> None:
    here = in_memory()
    finish(here.services.channels.add(console(OPS), BOSS))
    here.send(here.join(ANN), OPS, "from here")
    here.take_in(told.lines())
    here.clock.advance(120)
    carried: list[str] = []
    while batch := finish(here.services.posts.take(OPS, 5)).taken:
        (each,) = batch
        carried.append(each.message.text)
        finish(here.services.posts.delivered(each.post.id))
    assert carried == ["from here", "post 1", "post 2"]
    check_sound(here.services)


def test_an_export_of_version_1_brings_its_waiting_tasks() -> None:
    """One task waits, one was claimed by a session, and one is handled."""
    space, target = in_memory(), in_memory()
    ann, bob = space.join(ANN), space.join(BOB)
    claimed, waits, over = (space.send(ann, BOB, f"task {n}", kind=Kind.TASK) for n in range(3))
    assert finish(claim_next(space.services, bob)) is not None
    finish(space.services.mail.settle(over, bob))
    lines = as_first_version(space.lines())
    assert target.take_in(lines).is_new
    check_sound(target.services)
    found = everything(target.views).tasks
    assert {task.id for task in found} == {waits, claimed}
    assert all(task.state is TaskState.PENDING and task.claimed_by is None for task in found)
    assert not target.take_in(lines).is_new
    taken = finish(target.services.duties.take(target.join(BOB)))
    assert taken is not None
    assert taken.task.delegator == ANN


def as_first_version(lines: Sequence[bytes]) -> list[bytes]:
    """Return an export without the records of tasks that version 1 did not have."""
    writer, reader = LineWriter(), ExportReader()
    records = [record for line in lines if (record := reader.take(line)) is not None]
    older = [writer.header(reader.end().header._replace(version=1))]
    for record in records:
        is_newer = isinstance(record, Task) or (isinstance(record, Event) and record.action.startswith("task."))
        older += [] if is_newer else [writer.record(record)]
    return [*older, writer.end()]


def test_an_import_is_journalled_with_its_actor(told: Space) -> None:
    target = in_memory()
    lines = told.lines()
    finish(target.services.imports.take_in(given_lines(lines), Identity(ANN), nothing))

    (event,) = finish(target.services.history.read(0, 10, EventFilter(action=Action.SPACE_IMPORTED)))
    assert event.actor == Identity(ANN)
    assert event.details["records"] == len(lines) - 2


def test_importing_the_same_export_again_changes_nothing(told: Space) -> None:
    target = in_memory()
    lines = told.lines()
    first = target.take_in(lines)
    before = target.lines()
    again = target.take_in(lines)
    assert (first.is_new, again.is_new) == (True, False)
    assert first.summary == again.summary
    assert target.lines()[1:] == before[1:]
    # A later export of the unchanged space changes nothing either.
    assert not target.take_in(told.lines()).is_new


def test_tokens_are_only_exported_on_request_and_secrets_never() -> None:
    space, target = in_memory(), in_memory()
    secret = finish(space.services.identities.create_token(ANN, BOSS, register=True))
    joined = space.join(BOB)
    without, along = space.lines(), space.lines(with_tokens=True)
    assert not any(b'"record":"token"' in line for line in without)
    assert secret.encode() not in b"".join(along)
    assert joined.session is not None
    session = finish(space.services.directory.session(joined.session))
    assert session.secret_hash
    assert session.secret_hash.encode() not in b"".join(along)
    target.take_in(along)
    assert finish(target.services.identities.by_token(secret)).agent == ANN
    assert joined.session in {session.id for session in everything(target.views).sessions}


def test_two_spaces_become_one(told: Space) -> None:
    """The agents of both exist, mail keeps its order, and no number stands for two messages."""
    here = in_memory()
    ann, bob = here.join(ANN), here.join(BOB)
    for n in range(5):
        here.send(ann, BOB, f"from here {n}")
    finish(here.services.policies.tell_unauthorized(BOSS, told=False))
    old = [item.delivery.number for item in told.inbox(BOB)]
    here.take_in(told.lines())
    check_sound(here.services)
    items = here.inbox(BOB)
    assert [item.message.text for item in items] == [f"from here {n}" for n in range(5)] + [
        f"mail {n}" for n in range(4)
    ]
    assert [item.delivery.number for item in items] == [*range(1, 6), *(number + 5 for number in old)]
    # Bob has a live session here, so imported mail is delivered to it at once.
    assert all(item.delivery.session == bob.session for item in items)
    settings_here = {setting.name: setting.value for setting in everything(here.views).settings}
    assert settings_here["tell-unauthorized"] == "false", "what was set here stays"
    assert [item.message.text for item in here.inbox(CY)] == ["parked", "a part"]


def test_a_record_that_differs_from_an_existing_one_is_a_conflict_and_nothing_changes(
    told: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer_import, "BATCH", 3)
    target = in_memory()
    target.take_in(told.lines())
    told.send(Identity(ANN), CY, "something new")
    newer = told.lines()
    for space in (target, told):
        before = space.lines()
        with pytest.raises(ImportConflict):
            space.take_in(newer)
        assert space.lines()[1:] == before[1:]


def test_the_record_of_earlier_imports_is_not_exported(told: Space) -> None:
    second, third = in_memory(), in_memory()
    second.take_in(told.lines())
    third.take_in(second.lines())
    assert not any(b'"record":"setting","name":"import-' in line for line in third.lines())
    with pytest.raises(ImportConflict):
        third.take_in(told.lines())


def test_an_import_does_not_restore_messages_that_were_pruned_here(told: Space) -> None:
    here = in_memory()
    message_id = everything(told.views).messages[0].message.id
    finish(here.store.commit(lambda tx: tx.pruned.remember([message_id])))
    with pytest.raises(ImportConflict) as caught:
        here.take_in(told.lines())
    assert caught.value.details["id"] == message_id
    assert everything(here.views).agents == []


def test_an_import_into_a_space_that_is_replaced_meanwhile_stops(told: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_import, "BATCH", 3)
    lines, target = told.lines(), in_memory()
    digest = in_memory().take_in(lines).summary.digest

    def replace(label: str, done: int, total: int | None) -> None:
        if label == "importing" and done == 6:
            finish(target.store.commit(lambda tx: write_progress(tx, digest, ImportProgress())))

    with pytest.raises(Unavailable):
        finish(target.services.imports.take_in(given_lines(lines), THE_SPACE, replace))


def test_a_damaged_export_changes_nothing(told: Space) -> None:
    lines = told.lines()
    for spoilt in (lines[:-1], [*lines[:-2], lines[-1]], [*lines[:20], lines[20].replace(b"a", b"b"), *lines[21:]]):
        target = in_memory()
        with pytest.raises(ExportDamaged):
            target.take_in(spoilt)
        assert not any(everything(target.views))
        assert target.kept.contents == {}


def test_a_missing_file_is_reported_by_the_export(told: Space) -> None:
    (digest,) = told.kept.contents
    told.kept.contents.clear()

    async def export() -> tuple[list[bytes], Sequence[str]]:
        async with told.services.exports(told.views).open() as opened:
            return [line async for line in opened.lines()], opened.missing

    lines, missing = finish(export())
    assert missing == [digest]
    target = in_memory()
    target.take_in(lines)
    check_sound(target.services)
    with pytest.raises(BlobMissing):
        finish(target.blobs.get(digest))


def test_an_import_that_dies_anywhere_is_completed_by_the_next(told: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_import, "BATCH", 20)
    lines = told.lines(with_tokens=True)
    whole = in_memory()
    whole.take_in(lines)
    expected = everything(whole.views)
    first = DyingStore(MemoryStore())
    Space(first, told.views).take_in(lines)
    assert len(first.writes) > 10
    for death in deaths([min(count, 2) for count in first.writes]):
        store = MemoryStore()
        with pytest.raises(Died):
            Space(DyingStore(store, death), MemoryViews(store)).take_in(lines)
        rest = in_memory(store)
        rest.take_in(lines)
        check_sound(rest.services)
        check_equal(everything(rest.views), expected, Everything._fields)
        assert not rest.take_in(lines).is_new


def test_an_interrupted_import_can_be_resumed_after_other_activity(
    told: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an interruption at any point, agents join, send and read, and then the import resumes."""
    monkeypatch.setattr(transfer_import, "BATCH", 15)
    lines = told.lines()
    first = DyingStore(MemoryStore())
    Space(first, told.views).take_in(lines)
    for death in deaths([0] * len(first.writes)):
        store = MemoryStore()
        with pytest.raises(Died):
            Space(DyingStore(store, death), MemoryViews(store)).take_in(lines)
        space = in_memory(store)
        ann, bob = space.join(ANN), space.join(BOB)
        space.send(ann, BOB, "meanwhile")
        assert finish(space.services.offers.offer(bob, "meanwhile")) is not None
        dee = space.join(DEE)
        if (taken := finish(space.services.duties.take(dee))) is not None:
            finish(space.services.duties.fail(taken.task.id, dee, "meanwhile"))
        for carried in finish(space.services.posts.take(OPS, 5)).taken:
            finish(space.services.posts.delivered(carried.post.id))
        space.take_in(lines)
        check_sound(space.services)
        texts = {item.message.text for item in space.inbox(BOB)}
        assert {"meanwhile", *(f"mail {n}" for n in range(4))} <= texts


odd_texts = texts | st.sampled_from(
    ("", "\u0000", "\u2028\u2029", "\r\n", '"}\n{"record":"end"}', "\ufeff", "𝕏" * 50, "\\ud800", "é" + "e\u0301")
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    bodies=st.lists(st.lists(odd_texts.map(TextPart) | json_values.map(DataPart), min_size=1, max_size=3), max_size=4),
    files=st.lists(st.binary(max_size=300), max_size=3),
)
def test_unusual_content_survives_a_transfer(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[list[Part]], files: list[bytes]
) -> None:
    first = in_memory()
    for parts in bodies:
        first.send(Identity(ANN), BOB, *parts)
    for content in files:
        first.send(Identity(ANN), BOB, a_file(first, content))
    second = in_sqlite(tmp_path_factory.mktemp("odd") / "covey.db")
    third = in_memory()
    second.take_in(first.lines())
    third.take_in(second.lines())
    check_same(first.views, second.views)
    check_same(first.views, third.views)
    assert third.kept.contents == first.kept.contents
    finish(second.store.close())


def test_large_content_survives_a_transfer(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = in_memory(), in_memory()
    for n in range(3):
        first.send(Identity(ANN), BOB, f"{n}" * 1_000_000)
    for _ in range(2):
        first.send(Identity(ANN), BOB, a_file(first, bytes(range(256)) * 40_000))
    lines = first.lines()
    assert sum(b'"record":"blob"' in line for line in lines) == 1, "a content that two messages have travels once"
    second.take_in(lines)
    check_same(first.views, second.views)
    assert second.kept.contents == first.kept.contents


def test_two_simultaneous_imports_of_the_same_export_have_the_effect_of_one(
    told: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two imports interleave: whichever is ahead, no record is imported twice."""
    monkeypatch.setattr(transfer_import, "BATCH", 3)
    lines = told.lines()
    store = MemoryStore()
    one, other = in_memory(store), in_memory(store)
    progressed: list[int] = []

    def let_the_other(label: str, done: int, total: int | None) -> None:
        if label == "importing" and not progressed:
            progressed.append(done)
            other.take_in(lines)

    finish(one.services.imports.take_in(given_lines(lines), THE_SPACE, let_the_other))
    assert progressed
    whole = in_memory()
    whole.take_in(lines)
    check_equal(everything(one.views), everything(whole.views), Everything._fields)
    check_sound(one.services)
