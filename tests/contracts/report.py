"""A plugin of pytest: how many sentences of each contract hold on each engine, as JSON.

`pytest tests/contracts -p tests.contracts.report`, with the name of the file in COVEY_CONTRACT_REPORT. A sentence holds
where all tests of it passed.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.contracts.engines import contracts_of, engines_of, sentences

_NODE = re.compile(r"tests/contracts/(\w+)\.py::(\w+)::(\w+)(?:\[(.*)\])?")


class Report:
    """What became of every sentence."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held: dict[tuple[str, str], dict[str, bool]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        node = _NODE.fullmatch(report.nodeid)
        if node is None:
            return
        module, tests, sentence, parameters = node.groups()
        contract = contracts_of(module)[tests]
        for engine in engines_of(module, contract, parameters or ""):
            said = self._held.setdefault((contract, engine), {})
            said[sentence] = said.get(sentence, True) and report.passed

    def pytest_sessionfinish(self) -> None:
        document: dict[str, dict[str, Mapping[str, int]]] = {}
        for (contract, engine), said in self._held.items():
            held = sum(said.get(sentence, False) for sentence in sentences(contract))
            document.setdefault(contract, {})[engine] = {"held": held, "sentences": len(sentences(contract))}
        self._file.write_text(json.dumps(document, indent=2) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    # On a worker of xdist nothing is written: the one who gave it work hears of all.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(Path(os.environ["COVEY_CONTRACT_REPORT"])))
