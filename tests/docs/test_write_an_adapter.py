"""The adapter of the how-to: it passes the contract, run as the how-to shows."""

import re
import tomllib
from pathlib import Path

import pytest

from covey.engines import GROUP
from covey.testing import contracts
from tests.docs.snippets import Use, snippets
from tests.engines.test_third_parties import install

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "write-an-adapter.md"
CONFTEST = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """Return a suite with the files of the page, its entry point as in an installed distribution, and a runner for
    coroutine tests."""
    pytester.makeconftest(CONFTEST)
    for snippet in snippets(PAGE):
        if snippet.use is Use.FILE:
            (pytester.path / snippet.what).write_text(snippet.code, encoding="utf-8")
    points = next(
        block
        for block in re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        if GROUP in block
    )
    install(pytester.path, **tomllib.loads(points)["project"]["entry-points"][GROUP])
    return pytester


def outcomes(suite: pytest.Pytester) -> dict[str, int]:
    """Run the page's tests. Return the numbers of passed and failed tests."""
    return suite.runpytest_subprocess("-o", "pythonpath=.").parseoutcomes()


def test_the_adapter_of_the_page_passes_its_contract(suite: pytest.Pytester) -> None:
    found = outcomes(suite)
    assert set(found) == {"passed"}
    assert found["passed"] > 13


def test_an_adapter_that_violates_the_port_fails(suite: pytest.Pytester) -> None:
    adapter = suite.path / "squeezed.py"
    check = "        if sha256(content).hexdigest() != digest:\n            raise BlobMissing(digest)\n"
    careless = adapter.read_text(encoding="utf-8").replace("(KeyError, zlib.error)", "KeyError").replace(check, "")
    adapter.write_text(careless, encoding="utf-8")
    assert outcomes(suite)["failed"] > 0


def test_the_page_names_every_contract() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in contracts.__all__ if name.endswith("Contract") and f"`{name}`" not in text] == []
