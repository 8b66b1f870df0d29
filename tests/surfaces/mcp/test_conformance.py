"""The conformance suite of MCP, without the parts that need fixtures. conformance.txt lists the scenarios."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.commands import Folder
from tests.surfaces.mcp.doorman import doorman
from tests.surfaces.mcp.node import script
from tests.surfaces.mcp.serving import http_server

LIMIT_S = 50.0
LIST = Path(__file__).with_name("conformance.txt")

SELECTIONS = {
    "2025-11-25": ("--suite", "all", "--spec-version", "2025-11-25"),
    "2026-07-28": ("--requirements", "2026-07-28"),
}


def listed(version: str) -> Mapping[str, set[str]]:
    """Return the scenarios that run with a protocol version, each with the checks that need fixtures."""
    entries = [line.split() for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return {entry[1]: set(entry[3:]) for entry in entries if entry[0] == version}


def failures(results: Path, scenario: str) -> list[str]:
    """Return the failed checks of a scenario. The scenario must have run."""
    (folder,) = results.glob(f"server-{scenario}-20*")
    checks: list[dict[str, Any]] = json.loads((folder / "checks.json").read_text())
    assert any(check["status"] == "SUCCESS" for check in checks)
    return [check["id"] for check in checks if check["status"] == "FAILURE"]


@pytest.mark.parametrize("version", SELECTIONS)
async def test_the_listed_scenarios_pass(folder: Folder, tmp_path: Path, version: str) -> None:
    program = script("conformance")
    token = folder.covey("token", "create", "tester", "--register", "--json").json["token"]
    results = tmp_path / "results"
    async with doorman(token) as (someone, door):
        with http_server(folder, "--allow-host", door) as server:
            someone.leads_to(server.url)
            words = ("server", "--url", f"http://{door}/mcp", *SELECTIONS[version], "-o", str(results))
            suite = await asyncio.create_subprocess_exec(*program, *words, stdout=asyncio.subprocess.DEVNULL)
            async with asyncio.timeout(LIMIT_S):
                await suite.wait()
    failed = {scenario: set(failures(results, scenario)) - needs for scenario, needs in listed(version).items()}
    assert not any(failed.values()), failed


def test_every_line_of_the_list_names_a_tested_protocol() -> None:
    assert sum(len(listed(version)) for version in SELECTIONS) == len(
        [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    )
