"""Contract of search."""

import pytest

from covey.core.ledger.message import DataPart, Kind, Message
from covey.core.names import AgentName, Scope, Subject
from covey.ports.ledger import MessageFilter, SearchHit
from covey.ports.store import Transaction
from covey.testing.contracts.messages import add
from covey.testing.factories import OpenSearch
from covey.testing.records import a_message, a_message_id, at

ODD_QUERIES = [
    '"',
    "'",
    "*",
    "-",
    "a OR",
    "AND",
    "NOT",
    "NEAR(",
    "col:",
    "(",
    ")",
    "a* b",
    "^x",
    "+",
    "\\",
    "%",
    "\u0000",
    "; drop table",
    "語",
    "🐦",
    "x" * 10_000,
]


async def found(
    open_search: OpenSearch, words: str, *messages: Message, limit: int = 10, wanted: MessageFilter | None = None
) -> list[SearchHit]:
    """File the messages and search."""
    async with open_search() as (store, search):
        await store.commit(lambda tx: add(tx, *messages))
        return [*await search.find(words, limit, wanted)]


def ids(hits: list[SearchHit]) -> list[str]:
    return [hit.message_id for hit in hits]


class SearchContract:
    """Fixture: `open_search`."""

    async def test_a_message_is_found_by_a_word_of_its_text(self, open_search: OpenSearch) -> None:
        hits = await found(open_search, "quail", a_message(1, text="a quail calls"), a_message(2, text="silence"))
        assert ids(hits) == [a_message_id(1)]

    async def test_a_message_is_found_by_a_word_of_its_subject(self, open_search: OpenSearch) -> None:
        hits = await found(open_search, "missing", a_message(1, subject="missing-test"), a_message(2))
        assert ids(hits) == [a_message_id(1)]

    async def test_all_words_must_be_there(self, open_search: OpenSearch) -> None:
        messages = (
            a_message(1, text="red fox"),
            a_message(2, text="red hen"),
            a_message(3, text="fox in red"),
            a_message(4, text="a fox", subject="red"),
        )
        hits = await found(open_search, "red fox", *messages)
        assert set(ids(hits)) == {a_message_id(n) for n in (1, 3, 4)}

    async def test_case_does_not_matter(self, open_search: OpenSearch) -> None:
        hits = await found(open_search, "QUAIL Été", a_message(1, text="Quail d'été"))
        assert ids(hits) == [a_message_id(1)]

    async def test_a_word_is_not_a_part_of_a_word(self, open_search: OpenSearch) -> None:
        assert await found(open_search, "cat", a_message(1, text="concatenate")) == []

    @pytest.mark.parametrize("words", ["fox,hen!", "(fox) -hen", '"fox" "hen', "fox*hen", "text:fox hen", "fox-hen"])
    async def test_punctuation_has_no_meaning(self, open_search: OpenSearch, words: str) -> None:
        text = "text: the fox and the hen"
        assert ids(await found(open_search, words, a_message(1, text=text))) == [a_message_id(1)]

    @pytest.mark.parametrize("words", ["AND", "or", "NOT", "near"])
    async def test_no_word_is_an_operator(self, open_search: OpenSearch, words: str) -> None:
        messages = a_message(1, text="and or not near"), a_message(2, text="something else")
        assert ids(await found(open_search, words, *messages)) == [a_message_id(1)]

    @pytest.mark.parametrize("words", ODD_QUERIES)
    async def test_any_text_is_a_query(self, open_search: OpenSearch, words: str) -> None:
        assert await found(open_search, words, a_message(1, text="plain")) == []

    @pytest.mark.parametrize("words", ["", " ", "?!"])
    async def test_no_words_find_nothing(self, open_search: OpenSearch, words: str) -> None:
        assert await found(open_search, words, a_message(1)) == []

    async def test_no_more_than_the_limit_is_given(self, open_search: OpenSearch) -> None:
        messages = [a_message(n, text="fox") for n in range(1, 8)]
        assert len(set(ids(await found(open_search, "fox", *messages, limit=3)))) == 3

    @pytest.mark.parametrize(
        ("wanted", "fitting"),
        [
            (MessageFilter(scope=Scope("T-1")), {1, 2}),
            (MessageFilter(subject=Subject("style")), {2, 3}),
            (MessageFilter(kind=Kind.REQUEST), {3}),
            (MessageFilter(sender=AgentName("eve")), {1}),
            (MessageFilter(since=at(2)), {3}),
            (MessageFilter(scope=Scope("T-1"), subject=Subject("style")), {2}),
            (MessageFilter(scope=Scope("T-2"), sender=AgentName("eve")), set[int]()),
        ],
    )
    async def test_a_filter_narrows_what_is_found(
        self, open_search: OpenSearch, wanted: MessageFilter, fitting: set[int]
    ) -> None:
        messages = (
            a_message(1, text="a fox", sender="eve", scope="T-1", created_at=at(1)),
            a_message(2, text="a fox", scope="T-1", subject="style", created_at=at(2)),
            a_message(3, text="a fox", kind=Kind.REQUEST, scope="T-2", subject="style", created_at=at(3)),
            a_message(4, text="a hen", sender="eve", scope="T-1", subject="style", created_at=at(4)),
        )
        assert set(ids(await found(open_search, "fox", *messages, wanted=wanted))) == set(map(a_message_id, fitting))

    async def test_the_limit_counts_those_that_fit(self, open_search: OpenSearch) -> None:
        better = [a_message(n, text="fox") for n in range(1, 6)]
        worse = a_message(9, text="a fox among many other words of another sender", sender="eve")
        wanted = MessageFilter(sender=AgentName("eve"))
        assert ids(await found(open_search, "fox", *better, worse, limit=1, wanted=wanted)) == [a_message_id(9)]

    async def test_the_best_is_first(self, open_search: OpenSearch) -> None:
        filler = "and then there was a good deal more to be said about quite other things"
        messages = (
            a_message(1, text=f"{filler} fox {filler}"),
            a_message(2, text="fox fox fox"),
            a_message(3, text=filler),
            a_message(4, text=filler),
        )
        assert ids(await found(open_search, "fox", *messages)) == [a_message_id(2), a_message_id(1)]

    async def test_a_snippet_shows_where_it_fits(self, open_search: OpenSearch) -> None:
        text = "so much before it " * 50 + "then the Fox came " + "and so much after it " * 50
        (hit,) = await found(open_search, "fox", a_message(1, text=text))
        assert "«Fox»" in hit.snippet
        assert len(hit.snippet) < len(text)

    async def test_a_message_without_text_does_no_harm(self, open_search: OpenSearch) -> None:
        empty = a_message(1)._replace(parts=(DataPart({"fox": "fox"}),))
        assert ids(await found(open_search, "fox", empty, a_message(2, text="fox"))) == [a_message_id(2)]

    async def test_all_that_was_committed_before_is_found(self, open_search: OpenSearch) -> None:
        async with open_search() as (store, search):
            for n in range(1, 30):
                await store.commit(lambda tx, n=n: add(tx, a_message(n, text=f"fox w{n}")))
                assert ids([*await search.find(f"w{n} fox", 10)]) == [a_message_id(n)]

    async def test_what_was_not_committed_is_not_found(self, open_search: OpenSearch) -> None:
        async def add_and_break(transaction: Transaction) -> None:
            await add(transaction, a_message(1, text="fox"))
            raise LookupError

        async with open_search() as (store, search):
            with pytest.raises(LookupError):
                await store.commit(add_and_break)
            assert [*await search.find("fox", 10)] == []

    async def test_what_was_removed_is_not_found_even_before_it_is_forgotten(self, open_search: OpenSearch) -> None:
        async with open_search() as (store, search):
            await store.commit(lambda tx: add(tx, *(a_message(n, text=f"fox w{n}") for n in range(1, 9))))
            assert len(await search.find("fox", 10)) == 8
            await store.commit(lambda tx: tx.pruned.remove([a_message_id(n) for n in (1, 3, 7, 8)]))
            assert sorted(ids([*await search.find("fox", 10)])) == [a_message_id(n) for n in (2, 4, 5, 6)]
            assert len(await search.find("fox", 3)) == 3
            await search.forget()
            assert sorted(ids([*await search.find("fox", 10)])) == [a_message_id(n) for n in (2, 4, 5, 6)]
            assert await search.lag() == 0

    async def test_what_comes_after_the_newest_was_removed_is_found(self, open_search: OpenSearch) -> None:
        async with open_search() as (store, search):
            await store.commit(lambda tx: add(tx, *(a_message(n, text=f"fox w{n}") for n in range(1, 5))))
            assert len(await search.find("fox", 10)) == 4
            for gone in ([3, 4], [1, 2, 13]):
                await store.commit(lambda tx, gone=gone: tx.pruned.remove([a_message_id(n) for n in gone]))
                new = a_message(10 + gone[0], text=f"fox n{gone[0]}")
                await store.commit(lambda tx, new=new: add(tx, new))
                assert ids([*await search.find(f"n{gone[0]}", 10)]) == [new.id]
                assert ids([*await search.find(f"w{gone[0]}", 10)]) == []
                assert await search.lag() == 0

    async def test_forgetting_leaves_what_is_there(self, open_search: OpenSearch) -> None:
        async with open_search() as (store, search):
            await search.forget()
            await store.commit(lambda tx: add(tx, a_message(1, text="fox"), a_message(2, text="fox")))
            await search.forget()
            assert len(await search.find("fox", 10)) == 2

    async def test_the_lag_is_what_is_not_taken_in_yet(self, open_search: OpenSearch) -> None:
        async with open_search() as (store, search):
            assert await search.lag() == 0
            await store.commit(lambda tx: add(tx, a_message(1), a_message(2)))
            assert 0 <= await search.lag() <= 2
