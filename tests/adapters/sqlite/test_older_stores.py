"""Stores from before a migration work like new ones."""

from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from covey.adapters.sqlite.care.integrity import integrity_check
from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.coroutine import finish
from covey.core.identity import parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import FilePart, Kind, TextPart
from covey.core.ledger.wire import encode
from covey.core.names import AgentName, Scope
from covey.ports.work import TaskFilter
from covey.services.care.audit import Audit
from covey.services.directory.directory import JoinRequest
from covey.services.mail.recipients import SendPolicy
from covey.testing.fakes import HandClock
from covey.testing.records import a_delivery, a_message, a_token
from tests.properties.world import World
from tests.services.claiming import claim_next

DIGEST = "a" * 64
WITH_FILE = a_message(1)._replace(parts=(TextPart("look"), FilePart("a.txt", DIGEST, 1)))


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A store with a message, in the schema before pruning was added."""
    path = tmp_path / "covey.db"
    store = SqliteStore(path)
    finish(store.commit(lambda tx: tx.messages.add(WITH_FILE, encode(WITH_FILE))))
    finish(store.close())
    connection = apsw.Connection(str(path))
    on_one_cursor(connection)(
        "drop table pruned; drop index messages_with_files; alter table messages drop column has_files;"
        "delete from migrations where name = '0002_pruning'"
    )
    connection.close()
    return path


def test_a_store_from_before_numbers_finds_a_handled_delivery_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    store = SqliteStore(path)
    handled = a_delivery(state=DeliveryState.HANDLED)._replace(number=7)
    finish(store.commit(lambda tx: tx.deliveries.place(handled)))
    finish(store.close())
    connection = apsw.Connection(str(path))
    on_one_cursor(connection)("drop index deliveries_handled; delete from migrations where name = '0003_numbers'")
    connection.close()
    store = SqliteStore(path)
    found = finish(store.read(lambda tx: tx.deliveries.handled(AgentName("bob"), 7)))
    assert [delivery.id for delivery in found] == [handled.id]
    finish(store.close())
    assert not integrity_check(path)


def test_a_store_from_before_pruning_can_be_pruned(older: Path) -> None:
    store = SqliteStore(older)
    page = finish(store.read(lambda tx: tx.retention.files(0, 10)))
    assert list(page.items) == [DIGEST]
    assert finish(store.read(lambda tx: tx.pruned.count())) == 0
    assert finish(store.commit(lambda tx: tx.pruned.remove([WITH_FILE.id]))).messages == 1
    assert finish(store.read(lambda tx: tx.pruned.has(WITH_FILE.id)))
    finish(store.close())
    assert not integrity_check(older)


def test_tokens_from_before_their_use_was_recorded_keep_working(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    store = SqliteStore(path)
    finish(store.commit(lambda tx: tx.tokens.put(a_token())))
    finish(store.close())
    connection = apsw.Connection(str(path))
    on_one_cursor(connection)(
        "alter table tokens drop column used_at; delete from migrations where name = '0004_token_use'"
    )
    connection.close()
    store = SqliteStore(path)
    assert finish(store.read(lambda tx: tx.tokens.all())) == [a_token()._replace(used_at=None)]
    finish(store.close())


def test_tasks_from_before_task_records_can_be_claimed_and_agree_with_the_journal(tmp_path: Path) -> None:
    """One task waits, one is claimed by a session, one is finished."""
    path = tmp_path / "covey.db"
    store = SqliteStore(path)
    clock = HandClock()
    services = World(store, clock).processes[0].services
    ann, bob = (finish(services.directory.join(JoinRequest(AgentName(name)))).identity for name in ("ann", "bob"))
    claimed, waits, over = (
        finish(services.mail.send(_a_task(n, clock), ann, SendPolicy())).message_id for n in range(3)
    )
    assert finish(claim_next(services, bob)) is not None
    finish(services.mail.settle(over, bob))
    before = {task.id: task for task in finish(store.read(lambda tx: tx.tasks.find(TaskFilter(), 10)))}
    finish(store.close())
    connection = apsw.Connection(str(path))
    on_one_cursor(connection)(
        "drop table tasks; delete from journal where action = 'task.claimed';"
        "delete from migrations where name = '0007_tasks'"
    )
    connection.close()
    store = SqliteStore(path)
    found = finish(store.read(lambda tx: tx.tasks.find(TaskFilter(), 10)))
    assert found == [before[claimed], before[waits]]
    assert found[0].claimed_by == bob.session
    assert finish(Audit(store).check()) == []
    finish(store.close())
    assert not integrity_check(path)


def _a_task(n: int, clock: HandClock) -> Draft:
    deadline = clock.now() + timedelta(hours=1) if n else None
    return Draft(Kind.TASK, (parse_address("bob"),), (TextPart("do it"),), scope=Scope("s"), deadline=deadline)


def test_a_store_from_before_marks_keeps_the_ids_of_foreign_files_and_trusts_no_other_metadata(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    forged = {"negotiation": "end", "person": "lead", "run": "r", "status": "completed"}
    foreign = a_message(1, text="ä 語")._replace(
        metadata={"foreign_id": "msg_1", "foreign": {"task_id": "t-1", "x": [1]}}
    )
    plain = a_message(2)._replace(metadata={**forged, "foreign_id": 5})
    store = SqliteStore(path)
    for message in (foreign, plain):
        finish(store.commit(lambda tx, message=message: tx.messages.add(message, encode(message))))
    finish(store.close())
    connection = apsw.Connection(str(path))
    on_one_cursor(connection)(
        "drop table pairs; update messages set checksum = null; delete from migrations where name = '0013_pairs'"
    )
    connection.close()
    store = SqliteStore(path)
    found = [finish(store.read(lambda tx, one=one: tx.messages.get(one.id))) for one in (foreign, plain)]
    marks = Marks(foreign_id="msg_1", foreign_task="t-1")
    assert found == [foreign._replace(metadata={"foreign": {"task_id": "t-1", "x": [1]}}, marks=marks), plain]
    assert finish(store.read(lambda tx: tx.messages.latest_of("talk a b"))) is None
    finish(store.close())
    assert not integrity_check(path)
