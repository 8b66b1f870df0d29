"""The table of engines: it names all contracts and engines, and all of them pass."""

from collections.abc import Mapping
from pathlib import Path

from tests.contracts.engines import MODULES, URLS, contracts_of, expected, sentences
from tools.engines_page import END, PAGE, START, cell, table, title, written


def test_the_table_is_that_of_a_run_without_failures() -> None:
    held = {contract: dict.fromkeys(engines, _all(contract)) for contract, engines in expected().items()}
    page = PAGE.read_text(encoding="utf-8")
    assert written(page, table(held)) == page, "run `python -m tools.engines_page`"


def _all(contract: str) -> Mapping[str, int]:
    return {"held": len(sentences(contract)), "sentences": len(sentences(contract))}


def test_every_engine_has_a_column_and_every_contract_a_line() -> None:
    shown = PAGE.read_text(encoding="utf-8").split(START)[1].split(END)[0].splitlines()
    assert [cell.strip() for cell in shown[0].strip("|").split("|")] == ["", *URLS]
    lines = [line.strip("| ").split(" | ")[0] for line in shown[5:]]
    assert lines == [title(contract) for contract in expected()]
    assert {engine for engines in expected().values() for engine in engines} == set(URLS)


def test_no_module_of_contracts_is_left_out() -> None:
    folder = Path(__file__).parents[1] / "contracts"
    assert set(MODULES) == {path.stem for path in folder.glob("test_*.py")}
    assert all(map(contracts_of, MODULES))


def test_a_failing_test_of_a_contract_is_visible() -> None:
    assert cell({"held": 3, "sentences": 4}) == "3 of 4"
    assert cell(None) == "–"
