"""Cold start: the modules that a short command loads.

Hooks of agent clients run such a command at every tool call and wait for it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from covey.core.coroutine import finish
from covey.engines import connect_inline, parse_store_url

LIMIT_S = 30

COVEY = """
    covey
    covey.adapters
    covey.adapters.sqlite
    covey.adapters.sqlite.engine
    covey.adapters.sqlite.engine.access
    covey.adapters.sqlite.engine.connection
    covey.adapters.sqlite.engine.files
    covey.adapters.sqlite.records
    covey.adapters.sqlite.records.directory
    covey.adapters.sqlite.records.mail
    covey.adapters.sqlite.records.rows
    covey.adapters.sqlite.transactions
    covey.adapters.sqlite.transactions.store
    covey.adapters.sqlite.transactions.transaction
    covey.adapters.system
    covey.adapters.system.clock
    covey.core
    covey.core.coroutine
    covey.core.directory
    covey.core.directory.card
    covey.core.directory.session
    covey.core.errors
    covey.core.identity
    covey.core.json
    covey.core.late
    covey.core.ledger
    covey.core.ledger.delivery
    covey.core.ledger.marks
    covey.core.ledger.message
    covey.core.ledger.offer
    covey.core.ledger.wire
    covey.core.limits
    covey.core.names
    covey.core.reporting
    covey.core.store_url
    covey.core.times
    covey.engines
    covey.engines.engine
    covey.engines.sqlite
    covey.ports
    covey.services
    covey.services.mail
    covey.services.mail.inbox
    covey.services.records
    covey.services.space
    covey.surfaces
    covey.surfaces.cli
    covey.surfaces.cli.call
    covey.surfaces.cli.catalogue
    covey.surfaces.cli.exits
    covey.surfaces.cli.mail
    covey.surfaces.cli.mail.inbox
    covey.surfaces.cli.main
    covey.surfaces.cli.process
    covey.surfaces.cli.terminal
    covey.surfaces.cli.terminal.output
    covey.surfaces.cli.terminal.text
    covey.surfaces.cli.times
    covey.surfaces.cli.views
    covey.surfaces.cli.views.documents
"""
"""The modules of Covey that `covey inbox AGENT --json` loads, exactly."""

OTHERS = """
    apsw argparse collections contextlib copyreg datetime enum errno functools gc gettext importlib itertools json
    keyword locale math operator re reprlib types typing warnings zlib
    _collections _datetime _functools _json _locale _operator _sre _typing
"""
"""Other modules that the command may load. Not every Python needs all of them, and some may be loaded already."""

NEVER = """
    asyncio concurrent ctypes dataclasses hashlib inspect logging msgspec pathlib random rich secrets shutil socket
    sqlite3 ssl subprocess tempfile threading urllib uuid
"""
"""Modules that no short command loads."""

WHAT_TO_DO = """
`covey inbox --json` loads what it did not load before: {more}.
Every hook of every agent client waits for it. Import it where it is used: in the function, in the verb, behind a late
property (covey.core.late); name a port in quotes ("ports.Store"). If the inbox can't do without it, see what it costs
(`make bench ARGS="--only cold"`) and add it to the list in this test."""

NO_LONGER = "`covey inbox --json` no longer loads {fewer}: take it off the list in this test."

PROBE = """
import json, sys
before = set(sys.modules)
sys.argv[0] = "covey"
from covey.surfaces.cli.process import run
code = run()
sys.stdout.flush()
sys.stderr.write(json.dumps([code, sorted(set(sys.modules) - before)]))
"""


class Loaded(NamedTuple):
    out: str
    modules: Sequence[str]

    @property
    def ours(self) -> set[str]:
        return {name for name in self.modules if name.partition(".")[0] == "covey"}

    @property
    def others(self) -> set[str]:
        return {name.partition(".")[0] for name in self.modules} - {"covey"}


def loaded(store: Path, *words: str) -> Loaded:
    """Run a command as a process; return its output and the modules that it loaded."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVEY_")}
    said = subprocess.run(
        [sys.executable, "-c", PROBE, *words, "--store", f"sqlite:{store}"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    code, modules = json.loads(said.stderr)
    assert code == 0
    return Loaded(said.stdout, modules)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A space with a message for the coder."""
    path = tmp_path / "covey.db"
    loaded(path, "send", "hello", "--from", "lead", "--to", "coder", "--register", "--json")
    return path


def test_inbox_loads_only_the_modules_that_it_needs(store: Path) -> None:
    said = loaded(store, "inbox", "coder", "--json")
    assert [item["text"] for item in json.loads(said.out)] == ["hello"]
    more = (said.ours - set(COVEY.split())) | (said.others - set(OTHERS.split()))
    assert not more, WHAT_TO_DO.format(more=", ".join(sorted(more)))
    fewer = set(COVEY.split()) - said.ours
    assert not fewer, NO_LONGER.format(fewer=", ".join(sorted(fewer)))


@pytest.mark.parametrize(
    "words",
    [
        ("send", "hello", "--from", "lead", "--to", "coder"),
        ("delegate", "fix it", "--from", "lead", "--to", "coder", "--no-wait"),
        ("tasks",),
        ("owed", "coder"),
        ("agents",),
        ("log",),
        ("gate", "T-1"),
    ],
    ids=lambda words: words[0],
)
def test_no_short_command_loads_an_event_loop_threads_or_cryptography(store: Path, words: Sequence[str]) -> None:
    assert not loaded(store, *words, "--json").others & set(NEVER.split())


def test_an_unused_store_is_not_created(tmp_path: Path) -> None:
    ports = connect_inline(parse_store_url(f"sqlite:{tmp_path}/unused/covey.db"), ())
    assert ports.clock.now().tzinfo is not None
    finish(ports.close())
    assert not (tmp_path / "unused").exists()


def test_a_reader_takes_no_writers_turn(store: Path) -> None:
    turn = store.with_name("covey.db-turn")
    turn.unlink()
    loaded(store, "inbox", "coder", "--json")
    assert not turn.exists()
    loaded(store, "send", "again", "--from", "lead", "--to", "coder", "--json")
    assert turn.exists()
