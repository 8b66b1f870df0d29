"""Run the contracts and write their results into docs/reference/engines.md: `python -m tools.engines_page`."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from covey.core.coroutine import finish
from covey.engines import connect_inline, parse_store_url
from covey.ports.store import Capabilities, Survives
from covey.testing import contracts
from tests.contracts.engines import SERVERS, URLS

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "reference" / "engines.md"
START: Final = "<!-- engines:start -->\n"
END: Final = "<!-- engines:end -->\n"

Held = Mapping[str, Mapping[str, Mapping[str, int]]]
"""By contract, then by engine: the number of sentences, and of those that hold."""


SURVIVES: Final[Mapping[Survives, str]] = {
    Survives.NOTHING: "nothing",
    Survives.PROCESS: "the end of a process",
    Survives.MACHINE: "a power cut",
    Survives.NODE: "the loss of a machine",
}


def table(held: Held) -> str:
    """Return the table: the declared capabilities of each engine, then the sentences of each contract that hold."""
    lines = [["", *URLS], ["---"] * (len(URLS) + 1), *declared()]
    for contract in contracts.__all__:
        if contract in held:
            lines.append([title(contract), *(cell(held[contract].get(engine)) for engine in URLS)])
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)


def declared() -> Iterable[list[str]]:
    """Yield the lines about declared capabilities."""
    engines = [capabilities(engine) for engine in URLS]
    yield ["*an accepted message survives*", *(SURVIVES[engine.survives] for engine in engines)]
    yield ["*several processes share it*", *("yes" if engine.shared else "no" for engine in engines)]
    yield ["*messages are found by words*", *("yes" if engine.searchable else "no" for engine in engines)]


def cell(held: Mapping[str, int] | None) -> str:
    """Return the number of sentences that hold; a dash if the contract does not apply to that engine."""
    if held is None:
        return "–"
    return str(held["held"]) if held["held"] == held["sentences"] else f"{held['held']} of {held['sentences']}"


def title(contract: str) -> str:
    """Return the name of a contract as words."""
    words = contract.removesuffix("Contract")
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in words).strip()


def capabilities(engine: str) -> Capabilities:
    """Return the declared capabilities of an engine."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        start = SERVERS.get(engine)
        server = stack.enter_context(start(Path(folder) / "server")).url if start else ""
        ports = connect_inline(parse_store_url(URLS[engine].format(folder=f"{folder}/space", server=server)), ())
        try:
            return ports.store.capabilities
        finally:
            finish(ports.close())


def written(page: str, made: str) -> str:
    """Return the page with the table in its place."""
    before, rest = page.split(START)
    return before + START + made + END + rest.split(END)[1]


def main() -> int:
    """Run the contracts, passing arguments on to pytest, and write the table."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        tests = [sys.executable, "-m", "pytest", "tests/contracts", "-q", "-p", "tests.contracts.report", *sys.argv[1:]]
        done = subprocess.run(tests, cwd=ROOT, env={**os.environ, "COVEY_CONTRACT_REPORT": str(report)}, check=False)
        made = table(json.loads(report.read_text()))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
