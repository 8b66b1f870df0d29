"""Damage that SQLite does not notice: it is found, does not block other reads, and is never shown as mail."""

import asyncio
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

import covey
from covey.adapters.sqlite.care.integrity import integrity_check
from covey.adapters.sqlite.care.salvage import KEYED, NUMBERED, salvage
from covey.adapters.sqlite.engine.access import migration, migration_names, on_one_cursor
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.adapters.system.clock import SystemClock
from covey.core.coroutine import finish
from covey.core.errors import CoveyError, MessageDamaged, RecordDamaged
from covey.core.identity import THE_SPACE
from covey.core.ledger.message import Message
from covey.core.names import AgentName
from covey.ports.store import Operation
from covey.services.mail.inbox import InboxItem, InboxReader

BOB, CAROL = AgentName("bob"), AgentName("carol")
TEXTS = ["the first", "the second, which is longer", "the third"]

HARMLESS = {
    ("messages", "seq"): "the order of acceptance; two that change places are no other mail",
    ("messages", "swept"): "whether the message is listed; the message itself is the same",
    ("deliveries", "seq"): "the order in the inbox",
    ("deliveries", "seen"): "nothing reads it yet",
}
"""Columns that no check covers, with the reason why a change shows an agent no mail that was not sent to it."""


class Space(NamedTuple):
    path: Path
    mail: Mapping[AgentName, Sequence[Message]]
    """Pending messages of each agent, as they were sent."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Space:
    path = tmp_path_factory.mktemp("whole") / "covey.db"

    async def send() -> None:
        async with covey.open(f"sqlite:{path}") as space:
            ann = await space.join("ann")
            for name in (BOB, CAROL):
                for text in TEXTS:
                    await ann.send(
                        name,
                        f"{text} for {name}",
                        kind="request",
                        subject="talk",
                        scope="M001",
                        when_unknown="register",
                    )

    asyncio.run(send())
    mail = {name: [item.message for item in look(path, name)] for name in (BOB, CAROL)}
    assert [len(messages) for messages in mail.values()] == [3, 3]
    return Space(path, mail)


@pytest.fixture
def space(whole: Space, tmp_path: Path) -> Space:
    """Return a copy that may be damaged."""
    return Space(Path(shutil.copy(whole.path, tmp_path / "covey.db")), whole.mail)


def look(path: Path, agent: AgentName) -> Sequence[InboxItem]:
    """Return the pending items of an agent."""
    store = SqliteStore(path)
    try:
        return finish(InboxReader(store, SystemClock()).peek(agent))
    finally:
        finish(store.close())


def change(path: Path, statement: str, *values: Any) -> int:
    """Run a statement without Covey. Return the number of changed rows."""
    connection = apsw.Connection(str(path))
    try:
        on_one_cursor(connection)(statement, values)
        return connection.changes()
    finally:
        connection.close()


def columns() -> Iterator[tuple[str, str, str]]:
    """Return every column of the tables whose rows have checksums, with its type."""
    connection = apsw.Connection(":memory:")
    execute = on_one_cursor(connection)
    for name in migration_names():
        execute(migration(name))
    for table in ("messages", "deliveries"):
        for row in list(execute(f"pragma table_info({table})")):
            yield table, row[1], row[2].lower()
    connection.close()


def alterations(kind: str) -> Sequence[str]:
    """Return expressions for another value of a column."""
    if kind == "integer":
        return ["coalesce({0}, 0) + 1", "coalesce({0}, 0) + 1000000"]
    return ["substr({0}, 2) || 'x'", "coalesce({0}, '') || 'x'", "'x'", "'ann'", "'carol'"]


ALL = [(table, column, form) for table, column, kind in columns() for form in alterations(kind)]


def is_as_sent(space: Space) -> bool:
    """Check that each reader is shown only messages that were sent to it.

    Return True if all of them are shown or the read fails with an error.
    """
    is_all = True
    for agent, sent in space.mail.items():
        try:
            items = look(space.path, agent)
        except CoveyError:
            continue
        mail = [item.message for item in items if item.message.sender != THE_SPACE]
        assert all(message in sent for message in mail)
        is_all = is_all and len(items) == len(sent)
    return is_all


@pytest.mark.requirement("trust.damage")
@pytest.mark.parametrize(("table", "column", "form"), ALL, ids=[f"{t}.{c} {f}" for t, c, f in ALL])
def test_each_altered_column_is_noticed_and_never_shown_as_mail(
    space: Space, table: str, column: str, form: str
) -> None:
    key = "id" if table == "messages" else "message_id"
    row = space.mail[BOB][1].id
    other = form.format(column)
    try:
        changed = change(
            space.path, f"update {table} set {column} = {other} where {key} = ? and {column} is not {other}", row
        )
    except apsw.ConstraintError:
        changed = 0  # the table's constraints refuse the value
    is_as_sent(space)
    assert not changed or (table, column) in HARMLESS or integrity_check(space.path)


def test_flipped_bytes_anywhere_are_noticed_or_harmless_and_never_shown_as_mail(whole: Space, tmp_path: Path) -> None:
    content = whole.path.read_bytes()
    dice = random.Random(17)
    used = [place for place in range(100, len(content)) if content[place]]
    for n, place in enumerate(dice.sample(used, 150)):
        altered = bytearray(content)
        altered[place] ^= 1 << dice.randrange(8)
        path = tmp_path / f"{n}.db"
        path.write_bytes(altered)
        space = Space(path, whole.mail)
        is_all_told = is_as_sent(space)
        is_found = is_noticed(path)
        assert is_all_told or is_found, f"a flipped bit at {place} hides mail, and nobody says so"
        path.unlink()


def is_noticed(path: Path) -> bool:
    try:
        return bool(integrity_check(path))
    except CoveyError:
        return True


def test_bytes_that_are_not_text_are_reported_as_damage_without_a_traceback(space: Space) -> None:
    first, second, _ = space.mail[BOB]
    change(space.path, "update messages set document = cast(x'ff7b' as text) where id = ?", first.id)
    change(space.path, "update deliveries set sender = cast(x'ff' as text) where message_id = ?", second.id)
    items = look(space.path, BOB)
    assert [item.message.sender == THE_SPACE for item in items] == [True, False]
    assert len(integrity_check(space.path)) >= 2


@pytest.mark.requirement("trust.damage")
def test_one_damaged_message_is_shown_as_damaged_between_the_others(space: Space) -> None:
    first, second, third = space.mail[BOB]
    change(space.path, "update messages set document = replace(document, 'longer', 'shorter') where id = ?", second.id)
    items = look(space.path, BOB)
    assert [item.message.id for item in items] == [first.id, second.id, third.id]
    assert items[0].message == first
    assert items[2].message == third
    assert items[1].message.sender == THE_SPACE
    assert "damaged" in items[1].message.text
    assert "shorter" not in items[1].message.text


def test_reading_a_damaged_record_by_its_id_is_refused(space: Space) -> None:
    first, second, _ = space.mail[BOB]
    change(space.path, "update messages set document = replace(document, 'first', 'worst') where id = ?", first.id)
    change(space.path, "update deliveries set state = 'handled' where message_id = ?", second.id)
    store = SqliteStore(space.path)
    try:
        with pytest.raises(MessageDamaged, match="checksum"):
            finish(store.read(lambda tx: tx.messages.get(first.id)))
        with pytest.raises(MessageDamaged):
            finish(store.read(lambda tx: tx.messages.thread(first.id)))
        with pytest.raises(RecordDamaged, match="checksum"):
            finish(store.read(lambda tx: tx.deliveries.of_message(second.id)))
    finally:
        finish(store.close())


def test_a_salvaged_store_has_no_damaged_messages(space: Space, tmp_path: Path) -> None:
    first, second, third = space.mail[BOB]
    change(space.path, "update messages set document = replace(document, 'first', 'worst') where id = ?", first.id)
    change(space.path, "update deliveries set inbox = 'agent:carol' where message_id = ?", second.id)
    saved = salvage(str(space.path), str(tmp_path / "saved.db"), lambda _done, _of: None)
    assert saved["messages"].unreadable == 1
    assert saved["deliveries"].unreadable == 2
    assert [item.message for item in look(tmp_path / "saved.db", BOB)] == [third]
    assert integrity_check(tmp_path / "saved.db") == []


def test_rows_of_an_older_version_without_checksums_are_readable(space: Space) -> None:
    change(space.path, "update messages set checksum = null")
    change(space.path, "update deliveries set checksum = null")
    assert is_as_sent(space)
    assert integrity_check(space.path) == []


@pytest.mark.parametrize(
    ("table", "column"),
    [("agents", "card"), ("journal", "action"), ("tickets", "state")],
)
def test_a_record_that_no_version_of_covey_wrote_is_reported_as_damage_without_a_traceback(
    space: Space, table: str, column: str
) -> None:
    change(space.path, f"update {table} set {column} = 'x{{'")
    store = SqliteStore(space.path)
    request = space.mail[BOB][0].id
    reads: Mapping[str, Operation[object]] = {
        "agents": lambda tx: tx.agents.all(),
        "journal": lambda tx: tx.journal.read(0, 100),
        "tickets": lambda tx: tx.tickets.of_message(request),
    }
    try:
        with pytest.raises(RecordDamaged, match=table):
            finish(store.read(reads[table]))
    finally:
        finish(store.close())


def test_a_salvage_copies_every_table_that_is_not_derived() -> None:
    connection = apsw.Connection(":memory:")
    execute = on_one_cursor(connection)
    for name in migration_names():
        execute(migration(name))
    tables = {name for (name,) in list(execute("select name from sqlite_master where type = 'table'"))}
    connection.close()
    made = {"inboxes", "directory"}  # derived: recounted, and a change counter
    assert {*NUMBERED, *KEYED} == tables - made - {"migrations"}


async def test_a_model_is_shown_the_intact_messages_and_the_operator_is_notified_once(space: Space) -> None:
    first, second, third = space.mail[BOB]
    change(space.path, "update messages set document = replace(document, 'longer', 'shorter') where id = ?", second.id)
    async with covey.open(f"sqlite:{space.path}") as opened:
        bob = await opened.join(BOB)
        pending = await bob.pending()
        assert {letter.message_id for letter in pending.letters} == {first.id, third.id}
        for _ in range(2):
            async with bob.turn() as turn:
                assert second.id not in [letter.message_id for letter in turn.pending.letters]
    told = [item.message.text for item in look(space.path, AgentName("operator"))]
    assert [second.id in text for text in told] == [True]
    assert second.id in [item.message.id for item in look(space.path, BOB)]
