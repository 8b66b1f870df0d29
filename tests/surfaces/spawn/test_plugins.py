"""Plugins: they are notified of spawn, end and failure, and a bad plugin cannot harm children."""

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import covey
from covey.core.errors import LauncherUnavailable
from covey.core.names import AgentName
from covey.core.work.run import Run, RunState
from covey.engines import connect, parse_store_url
from covey.runtime.children import plugins as module
from covey.runtime.children.plugins import EntryPointPlugins
from covey.runtime.children.supervisor import Supervisor
from covey.services.directory.directory import JoinRequest
from covey.services.space import Services
from covey.surfaces.python.member import Errand, Member

Heard = list[tuple[str, str]]


class Home:
    """A space in memory with plugins of the test."""

    def __init__(self, plugins: Mapping[str, Callable[[str, Run], Any]]) -> None:
        url = parse_store_url("memory:")
        self.ports = connect(url, [])
        self.supervisor: Supervisor | None = None

        def made(services: Services) -> Supervisor:
            self.supervisor = Supervisor(services, url, EntryPointPlugins(plugins))
            return self.supervisor

        self.services = Services(self.ports, launching=made)

    async def __aenter__(self) -> Member:
        return Member(await self.services.directory.join(JoinRequest(AgentName("lead"))), self.services)

    async def __aexit__(self, *_: object) -> None:
        if self.supervisor is not None:
            await self.supervisor.close()
        await self.ports.close()


async def obliging(_errand: Errand) -> str:
    return "done"


async def failing(_errand: Errand) -> str:
    raise ValueError("not today")


@pytest.mark.requirement("sessions.hooks")
async def test_plugins_are_notified_of_spawn_end_and_failure() -> None:
    heard: Heard = []
    later: Heard = []

    def tell(moment: str, run: Run) -> None:
        heard.append((moment, str(run.state)))

    async def tell_later(moment: str, run: Run) -> None:
        await asyncio.sleep(0)
        later.append((moment, str(run.state)))

    async with Home({"one": tell, "two": tell_later}) as lead:
        await (await lead.spawn("Go", run=obliging)).result()
        await (await lead.spawn("Go", run=failing)).result()
        with pytest.raises(LauncherUnavailable):
            await lead.spawn("Go", run=obliging, group=asyncio.TaskGroup())  # The group was never entered.
    assert heard == later
    assert heard == [
        ("spawned", "running"),
        ("ended", "completed"),
        ("spawned", "running"),
        ("failed", "failed"),
        ("failed", "failed"),
    ]


@pytest.mark.requirement("sessions.hooks")
async def test_a_plugin_that_fails_or_hangs_harms_nothing(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 1.0)
    heard: Heard = []
    calls = {"hanging": 0, "stuck": 0}

    def tell(moment: str, run: Run) -> None:
        heard.append((moment, str(run.state)))

    def raising(_moment: str, _run: Run) -> None:
        raise SystemExit("a plugin can't end the program")

    def stuck(_moment: str, _run: Run) -> None:
        calls["stuck"] += 1
        time.sleep(3)

    async def hanging(_moment: str, _run: Run) -> None:
        calls["hanging"] += 1
        await asyncio.sleep(60)

    async with Home({"raising": raising, "stuck": stuck, "hanging": hanging, "well": tell}) as lead:
        for _ in range(3):
            result = await (await lead.spawn("Go", run=obliging)).result()
            assert result is not None
            assert result.status is RunState.COMPLETED
    assert heard == [("spawned", "running"), ("ended", "completed")] * 3
    assert calls == {"hanging": 1, "stuck": 1}
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert sum("plugin raising failed" in text for text in warnings) == 6
    assert sum("it gets no more events" in text for text in warnings) == 2


@pytest.mark.requirement("sessions.hooks")
async def test_plugins_are_found_by_entry_point_and_invalid_ones_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "spawn_hooks.py").write_text("HEARD = []\ndef tell(moment, run): HEARD.append(moment)\nNUMBER = 7\n")
    about = tmp_path / "spawn_hooks-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: spawn_hooks\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        "[covey.plugins]\ngood = spawn_hooks:tell\nmissing = spawn_hooks:nothing\nodd = spawn_hooks:NUMBER\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    try:
        async with covey.open("memory:") as space:
            lead = await space.join("lead")
            await (await lead.spawn("Go", run=obliging)).result()
        heard = sys.modules["spawn_hooks"].HEARD
    finally:
        sys.modules.pop("spawn_hooks", None)
    assert heard == ["spawned", "ended"]
    texts = [record.getMessage() for record in caplog.records]
    assert any("plugin missing can't be loaded" in text for text in texts)
    assert any("plugin odd is not callable" in text for text in texts)
