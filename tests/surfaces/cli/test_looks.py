"""Read-only operations change nothing: no verb, view or tool that only reads changes a table of the space.

The space has records that a read could be tempted to update: mail and tasks that have expired, a lease that has ended,
and a session whose process is gone.
"""

import asyncio
import hashlib
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

import covey as api
from covey.core.store_url import StoreUrl
from covey.engines import connect, parse_store_url
from covey.ports.ledger import EventFilter
from covey.services.space import Services
from covey.surfaces.cli.catalogue import VERBS
from covey.surfaces.cli.live import follow
from covey.surfaces.mcp.resources import AGENTS, INBOX, THREAD, read_resource
from covey.toolkits.catalogue import HOMES, toolkit
from covey.toolkits.toolbox import call
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey

LOOKS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "agents": ((), ("coder",)),
    "status": ((), ("--json",)),
    "top": (),
    "inbox": ((), ("coder",), ("coder", "--wait", "1")),
    "watch": (("--limit", "1", "--after", "0"), ("coder", "--limit", "1", "--after", "0")),
    "search": (("tabs",),),
    "thread": (("{request}",),),
    "owed": ((), ("coder",), ("lead",)),
    "gate": (("T-1",),),
    "messages-inbox": (("--task", "T-1", "--agent", "coder"),),
    "messages-thread": (("{request}",),),
    "tasks": ((),),
    "task": (("{task}",),),
    "sessions": ((), ("--all",)),
    "waits": ((),),
    "receipt": (("{request}",), ("{expired}",)),
    "log": ((),),
    "graph": ((), ("{request}",), ("{task}", "--mermaid")),
    "channels": (("list",),),
    "storms": ((),),
    "token": (("list",),),
    "tools": ((),),
    "doctor": ((),),
    "export": (("out.jsonl",),),
    "backup": (("out.tar",),),
    "help": ((), ("watch",)),
    "completion": (("bash",),),
    "version": ((),),
}
"""The verbs that only look, with words that make them look at much. {…} stand for ids. `top` needs a terminal."""

CHANGES: Final = frozenset(
    {
        *("init", "join", "leave", "send", "reply", "ask", "approve", "reject", "handle", "dismiss", "withdraw"),
        *("archive", "sweep", "messages-send", "messages-archive", "delegate", "accept", "update", "cancel", "work"),
        *("spawn", "say", "stop", "pause", "resume", "nats", "mcp", "prune", "restore", "import", "move", "demo"),
    }
)

TOOL_ARGUMENTS: Final = {"sessions_history": {"label": "lead"}}
NOTING: Final = frozenset({"read_inbox", "read_message", "messages_thread"})
"""Read-only tools that record what a model was shown, or that it named a message it was shown."""


def test_every_verb_is_listed_as_reading_or_changing() -> None:
    assert LOOKS.keys() | CHANGES == VERBS.keys()
    assert not LOOKS.keys() & CHANGES


@pytest.fixture
def ids(covey: Covey, tmp_path: Path) -> dict[str, str]:
    """A space with expired mail and tasks, an ended lease and a lost session; return the ids of its records."""
    del covey
    found = asyncio.run(_fill(tmp_path))
    left = Folder(tmp_path).run(["python", "-c", _LEAVES_A_SESSION])
    assert left.code == 0, left.err
    return found


_LEAVES_A_SESSION = """
import asyncio, os, covey
async def main():
    async with covey.open() as space:
        await space.join("ghost")
        os._exit(0)
asyncio.run(main())
"""


async def _fill(folder: Path) -> dict[str, str]:
    soon = timedelta(microseconds=1)
    async with api.open(f"sqlite:{folder}/.covey/covey.db") as space:
        lead, coder = await space.join("lead"), await space.join("coder")
        request = await lead.send("coder", "mind the tabs", kind="request", scope="T-1", subject="parser")
        expired = await lead.send("coder", "is it done?", kind="request", scope="T-1", expires_in=soon)
        task = await lead.delegate("coder", "write the parser", expires_in=soon)
        await lead.delegate("coder", "write the tests")
        assert await coder.offer("turn", lease=timedelta(seconds=1)) is not None
        return {"request": request.message_id, "expired": expired.message_id, "task": task.id}


def digest(folder: Path) -> dict[str, str]:
    """Return a digest of each table of the space."""
    with closing(sqlite3.connect(f"file:{folder}/.covey/covey.db?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        return {
            table: hashlib.sha256(repr(connection.execute(f"select * from {table}").fetchall()).encode()).hexdigest()
            for table in tables
        }


def test_no_reading_verb_changes_the_space(covey: Covey, tmp_path: Path, ids: dict[str, str]) -> None:
    before = digest(tmp_path)
    for verb, calls in LOOKS.items():
        for words in calls:
            said = covey(verb, *(word.format(**ids) for word in words))
            assert "Traceback" not in said.err
            assert said.code in (0, 1, 3), (verb, words, said)
            assert digest(tmp_path) == before, f"covey {verb} {' '.join(words)} has changed the space"


def _url(folder: Path) -> StoreUrl:
    return parse_store_url(f"sqlite:{folder}/.covey/covey.db")


async def _watch(folder: Path) -> None:
    async def show(_events: object) -> bool:
        return True

    ports = connect(_url(folder), ["."])
    try:
        services = Services(ports, 0.001)  # a hundred reads within the limit
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await follow(services, 0, show, EventFilter(), None)
    finally:
        await ports.close()


def test_watching_for_a_while_changes_nothing(tmp_path: Path, ids: dict[str, str]) -> None:
    assert ids
    before = digest(tmp_path)
    asyncio.run(_watch(tmp_path))
    assert digest(tmp_path) == before


async def _read(folder: Path, ids: dict[str, str]) -> dict[str, dict[str, str]]:
    """Use every read-only tool and every resource; return the state of the space after each."""
    after: dict[str, dict[str, str]] = {}
    async with api.open(str(_url(folder))) as space:
        caller = (await space.join("coder")).tools().caller
        after[""] = digest(folder)
        for kit in map(toolkit, HOMES):
            for tool in kit.tools:
                if tool.is_read_only and tool.name not in NOTING:
                    given = {name: text.format(**ids) for name, text in TOOL_ARGUMENTS.get(tool.name, {}).items()}
                    await call(tool, caller, given)
                    after[f"{kit.name} {tool.name}"] = digest(folder)
            for uri in (INBOX, AGENTS, f"{THREAD}{ids['request']}"):
                await read_resource(caller, kit, uri)
                after[f"{kit.name} {uri}"] = digest(folder)
    return after


def test_no_read_only_tool_and_no_resource_changes_the_space(tmp_path: Path, ids: dict[str, str]) -> None:
    after = asyncio.run(_read(tmp_path, ids))
    before = after.pop("")
    assert [name for name, now in after.items() if now != before] == []
    assert len(after) > 3 * len(HOMES)


async def _views(folder: Path, ids: dict[str, str]) -> list[dict[str, str]]:
    """Use every read-only view of a member; return the state of the space before and after each."""
    async with api.open(str(_url(folder))) as space:
        me = await space.join("coder")
        states = [digest(folder)]
        for look in (
            me.inbox.peek(),
            me.inbox.next(timeout=0),
            me.pending(),
            me.owed(),
            me.gate("T-1"),
            me.receipt(ids["expired"]),
            space.agents(),
        ):
            await look
            states.append(digest(folder))
    return states


def test_no_read_only_view_of_a_python_program_changes_the_space(tmp_path: Path, ids: dict[str, str]) -> None:
    states = asyncio.run(_views(tmp_path, ids))
    assert all(state == states[0] for state in states)
