"""Contract of settings."""

from covey.ports.store import Transaction
from covey.testing.contracts.kept import kept
from covey.testing.opening import OpenStore


class SettingsContract:
    """Fixture: `open_store`."""

    async def test_a_setting_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        value = "a \u0000 text ' with \" everything\n語 🐦"
        found = await kept(open_store, lambda tx: tx.settings.put("name", value), lambda tx: tx.settings.get("name"))
        assert found == value

    async def test_a_setting_that_was_never_put_is_none(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: tx.settings.put("a", "1"), lambda tx: tx.settings.get("b"))
        assert found is None

    async def test_an_empty_setting_is_not_none(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: tx.settings.put("name", ""), lambda tx: tx.settings.get("name"))
        assert found == ""

    async def test_setting_it_again_replaces_it(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            await transaction.settings.put("name", "old")
            await transaction.settings.put("name", "new")

        assert await kept(open_store, write, lambda tx: tx.settings.get("name")) == "new"
