"""A log that was lost, or restored from an older copy: the error for the user, and that its advice works."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from covey.core.errors import LogDiverged
from covey.core.store_url import StoreUrl
from covey.engines import parse_store_url
from covey.surfaces.cli.main import main
from covey.testing import closing, silent
from covey.testing.contracts.store import both, increment
from tests.contracts.nats_space import inline, threaded
from tests.nats.servers import NatsServer, one_node

LIMIT_S = 20.0


async def count(url: StoreUrl, times: int) -> None:
    async with closing(inline(url, silent)) as store:
        for _ in range(times):
            await store.commit(increment)


def lose(server: NatsServer) -> None:
    """Delete all data of the server."""
    server.stop()
    shutil.rmtree(server.folder / "store")
    server.start()


def restore(server: NatsServer) -> None:
    """Restore the kept data of the server."""
    server.stop()
    shutil.rmtree(server.folder / "store")
    shutil.move(server.folder / "kept", server.folder / "store")
    server.start()


@pytest.mark.parametrize(("happens", "reason", "left"), [(lose, "no longer exists", 0), (restore, "at record 3", 2)])
async def test_a_log_with_less_than_a_replica_names_the_folder_to_remove_and_then_works(
    tmp_path: Path, happens: Callable[[NatsServer], None], reason: str, left: int
) -> None:
    with one_node(tmp_path / "server") as server:
        folder = tmp_path / "cache"
        url = parse_store_url(f"{server.url}/team?limit={LIMIT_S}&cache={folder}")
        await count(url, 2)
        server.stop()
        shutil.copytree(server.folder / "store", server.folder / "kept")
        server.start()
        await count(url, 3)
        happens(server)
        for opened in (inline, threaded):
            with pytest.raises(LogDiverged, match=reason) as refusal:
                async with closing(opened(url, silent)) as store:
                    await store.read(both)
            assert refusal.value.details["folder"] == str(folder)
            assert str(folder) in refusal.value.message
        # Records that only the replica has can be kept, as the advice says.
        export = tmp_path / "export"
        assert main(["export", str(export), "--store", f"sqlite:{refusal.value.details['replica']}"]) == 0
        shutil.rmtree(folder)
        async with closing(inline(url, silent)) as store:
            assert await store.commit(increment) == left + 1
