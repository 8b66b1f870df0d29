"""Free pages are returned to the file system, a few at a time, while the store is in use."""

from pathlib import Path

import apsw

from covey.adapters.sqlite.care.integrity import integrity_check
from covey.adapters.sqlite.care.pages import SqlitePages
from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.adapters.sqlite.engine.writer_lock import WriterLock
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.coroutine import finish
from covey.core.ledger.wire import encode
from covey.ports.store import Transaction
from covey.testing.records import a_message

MANY = 2000


async def fill(tx: Transaction) -> None:
    for n in range(1, MANY + 1):
        message = a_message(n, text="word " * 200)
        await tx.messages.add(message, encode(message))


async def empty(tx: Transaction) -> None:
    await tx.pruned.remove([a_message(n).id for n in range(1, MANY)])


def test_the_file_shrinks_in_steps(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    store, pages = SqliteStore(path), SqlitePages(path)
    finish(store.commit(fill))
    full = finish(pages.size())
    finish(store.commit(empty))
    steps = 1
    while finish(pages.give_back(100)):
        steps += 1
        assert finish(store.read(lambda tx: tx.messages.get(a_message(MANY).id))) is not None
    assert steps > 3
    finish(store.close())
    assert finish(pages.size()) < full / 5
    assert not integrity_check(path)


def test_free_pages_are_kept_for_later_if_another_process_holds_the_writer_lock(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    store = SqliteStore(path)
    finish(store.commit(fill))
    finish(store.commit(empty))
    turnstile = WriterLock(str(path))
    turnstile.enter(None)
    assert not finish(SqlitePages(path, limit_s=0.05).give_back(100))
    turnstile.close()
    assert finish(SqlitePages(path).give_back(100))
    finish(store.close())


def test_a_file_that_cannot_shrink_reuses_its_pages(tmp_path: Path) -> None:
    path = tmp_path / "covey.db"
    finish(SqliteStore(path).close())
    connection = apsw.Connection(str(path))
    for statement in ("journal_mode = delete", "auto_vacuum = none", "journal_mode = wal"):
        on_one_cursor(connection)(f"pragma {statement}")
        on_one_cursor(connection)("vacuum")
    connection.close()
    store, pages = SqliteStore(path), SqlitePages(path)
    finish(store.commit(fill))
    finish(store.commit(empty))
    assert not finish(pages.give_back(100))
    finish(store.close())
    full = path.stat().st_size
    store = SqliteStore(path)
    finish(store.commit(_fill_again))
    finish(store.close())
    assert path.stat().st_size < full * 1.1


async def _fill_again(tx: Transaction) -> None:
    for n in range(MANY + 1, 2 * MANY):
        message = a_message(n, text="word " * 200)
        await tx.messages.add(message, encode(message))
