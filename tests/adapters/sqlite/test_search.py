"""The search index: disposable, updated later than the store, and correct in every search."""

from pathlib import Path

import pytest

from covey.adapters.sqlite.search import search as search_module
from covey.adapters.sqlite.search.search import SqliteSearch
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.coroutine import finish
from covey.core.ledger.wire import encode
from covey.ports.store import Operation, Transaction
from covey.testing import a_message, a_message_id
from tests.reports import Reports


def add(*texts: str, start: int = 1) -> Operation[None]:
    async def operation(transaction: Transaction) -> None:
        for n, text in enumerate(texts, start):
            message = a_message(n, text=text)
            await transaction.messages.add(message, encode(message))

    return operation


def found(search: SqliteSearch, words: str) -> list[str]:
    return [hit.message_id for hit in finish(search.find(words, 1000))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "covey.db"
    store = SqliteStore(path)
    finish(store.commit(add("a red fox", "a grey goose")))
    finish(store.close())
    return path


def index(path: Path) -> Path:
    return path.with_name("covey.db-search")


def test_the_index_is_updated_only_by_a_search(path: Path) -> None:
    search = SqliteSearch(path)
    assert finish(search.lag()) == 2
    assert found(search, "fox") == [a_message_id(1)]
    assert finish(search.lag()) == 0
    finish(search.close())


def test_the_index_is_rebuilt_when_its_file_is_deleted(path: Path) -> None:
    search = SqliteSearch(path)
    assert found(search, "fox") == [a_message_id(1)]
    index(path).unlink()
    assert found(search, "goose") == [a_message_id(2)]
    assert index(path).exists()
    finish(search.close())


def test_the_index_is_rebuilt_when_its_file_is_damaged(path: Path) -> None:
    search = SqliteSearch(path)
    assert found(search, "fox") == [a_message_id(1)]
    finish(search.close())
    index(path).write_bytes(b"no index at all " * 1000)
    search = SqliteSearch(path)
    assert found(search, "fox") == [a_message_id(1)]
    content = index(path).read_bytes()
    finish(search.close())
    index(path).write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))
    search = SqliteSearch(path)
    assert found(search, "fox") == [a_message_id(1)]
    finish(search.close())


def test_an_index_of_another_store_is_not_used(path: Path, tmp_path: Path) -> None:
    search = SqliteSearch(path)
    assert found(search, "fox") == [a_message_id(1)]
    finish(search.close())
    other = tmp_path / "other" / "covey.db"
    store = SqliteStore(other)
    finish(store.commit(add("one owl", "two owls", "three owls", start=10)))
    finish(store.close())
    index(path).rename(index(other))
    search = SqliteSearch(other)
    assert found(search, "fox") == []
    assert found(search, "owls") == [a_message_id(11), a_message_id(12)]
    finish(search.close())


def test_two_searches_share_one_index(path: Path) -> None:
    one, two = SqliteSearch(path), SqliteSearch(path)
    store = SqliteStore(path)
    for n in range(3, 9):
        finish(store.commit(add(f"owl w{n}", start=n)))
        assert found(one if n % 2 else two, f"w{n}") == [a_message_id(n)]
    assert found(one, "owl") == found(two, "owl") == [a_message_id(n) for n in range(3, 9)]
    for thing in (one, two, store):
        finish(thing.close())


def test_the_index_catches_up_in_batches(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "BATCH", 7)
    store = SqliteStore(path)
    finish(store.commit(add(*("owl" for _ in range(50)), start=3)))
    reported = Reports()
    search = SqliteSearch(path, reported)
    assert len(found(search, "owl")) == 50
    assert found(search, "fox")
    what = "indexing messages"
    assert reported == [*((what, done, 52) for done in range(7, 52, 7)), (what, 49, 49)]
    finish(search.close())
    finish(store.close())


def test_a_very_long_query_is_accepted(path: Path) -> None:
    words = [f"w{n}" for n in range(3000)]
    store = SqliteStore(path)
    finish(store.commit(add(" ".join(words), start=3)))
    search = SqliteSearch(path)
    assert found(search, " ".join(words)) == [a_message_id(3)]
    assert found(search, " ".join([*words, "missing"])) == []
    finish(search.close())
    finish(store.close())
