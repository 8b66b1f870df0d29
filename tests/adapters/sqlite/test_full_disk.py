"""A full disk: a small private file system, filled until the store refuses more."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.children import ROOT

LIMIT_S = 40.0

MOUNT = 'mount -t tmpfs -o size=2m tmpfs "$1" && exec "$2" -c "$3" "$1" "$4"'

FILL = """
import asyncio, json, sys
from pathlib import Path
from covey.adapters.sqlite.transactions.group_commit import GroupCommit
from covey.adapters.sqlite.care.integrity import integrity_check
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.core.errors import StoreFull
from covey.core.ledger.wire import encode
from covey.ports.ledger import MessageFilter
from covey.testing import a_message

folder = Path(sys.argv[1])
ballast = folder / "ballast"
ballast.write_bytes(bytes(400_000))
path = folder / "covey.db"


def send(n):
    async def operation(transaction):
        message = a_message(n, text="x" * 2000)
        await transaction.messages.add(message, encode(message))
        return message.id
    return operation


async def everything(transaction):
    return [message.id for message in await transaction.messages.find(MessageFilter(), 100_000)]


async def main():
    store = (GroupCommit if sys.argv[2] == "threaded" else SqliteStore)(path)
    accepted, refused, n = [], [], 0
    while not refused and n < 2000:
        results = await asyncio.gather(*(store.commit(send(n + i)) for i in range(8)), return_exceptions=True)
        n += 8
        accepted += [r for r in results if isinstance(r, str)]
        refused += [r for r in results if not isinstance(r, str)]
    there = await store.read(everything)
    await store.close()
    again = SqliteStore(path)
    after = await again.read(everything)
    ballast.unlink()
    late = await again.commit(send(n + 1))
    await again.close()
    print(json.dumps({
        "accepted": len(accepted),
        "codes": sorted({getattr(r, "code", repr(r)) for r in refused}),
        "kept": there == accepted and after == accepted,
        "went_on": late in await (last := SqliteStore(path)).read(everything),
        "damage": integrity_check(path),
    }))
    await last.close()


asyncio.run(main())
"""


@pytest.mark.parametrize("way", ["inline", "threaded"])
def test_a_full_disk_loses_nothing_and_the_store_continues_when_there_is_space(tmp_path: Path, way: str) -> None:
    command = ["unshare", "-rm", "sh", "-c", MOUNT, "sh", str(tmp_path), sys.executable, FILL, way]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if "unshare:" in process.stderr or "mount:" in process.stderr:
        pytest.skip(f"a private mount can't be made: {process.stderr}")
    assert process.returncode == 0, process.stderr
    said = json.loads(process.stdout)
    assert said.pop("accepted") > 50
    assert said == {"codes": ["store-full"], "kept": True, "went_on": True, "damage": []}
