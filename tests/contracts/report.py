"""A pytest plugin: the number of tests of each contract that pass on each engine, as JSON.

Run `pytest tests/contracts -p tests.contracts.report`, with the name of the file in COVEY_CONTRACT_REPORT. A test of a
contract counts if it passed with all its parameters.
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
    """The outcome of every test of a contract."""

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
    # A worker of xdist writes nothing, because the controller gets all reports.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(Path(os.environ["COVEY_CONTRACT_REPORT"])))
