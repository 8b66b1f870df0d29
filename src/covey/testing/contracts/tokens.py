"""Contract of tokens."""

from covey.testing.contracts.kept import each, kept
from covey.testing.opening import OpenStore
from covey.testing.records import START, a_token, at


class TokensContract:
    """Fixture: `open_store`."""

    async def test_a_token_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: tx.tokens.put(a_token()), lambda tx: tx.tokens.get(a_token().hash))
        assert found == a_token()

    async def test_a_token_that_nobody_put_is_none(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: tx.tokens.put(a_token(1)), lambda tx: tx.tokens.get("hash-2"))
        assert found is None

    async def test_a_revoked_token_is_still_there(self, open_store: OpenStore) -> None:
        revoked = a_token()._replace(revoked_at=at(5))
        found = await kept(
            open_store, lambda tx: each(tx.tokens.put, a_token(), revoked), lambda tx: tx.tokens.get(revoked.hash)
        )
        assert found == revoked

    async def test_all_tokens_are_given_oldest_first(self, open_store: OpenStore) -> None:
        young, old, revoked = a_token(1, created_at=at(9)), a_token(2, created_at=at(3)), a_token(3, created_at=START)
        revoked = revoked._replace(revoked_at=at(1))
        found = await kept(open_store, lambda tx: each(tx.tokens.put, young, old, revoked), lambda tx: tx.tokens.all())
        assert [*found] == [revoked, old, young]
