"""Agreement between the manifest and the tests, in both directions. The check itself is shown to fail."""

from pathlib import Path

import pytest

from tests.requirement_marks import Requirement, disagreements, named_ids, read_manifest

TESTS = Path(__file__).parent
CONTRACTS = TESTS.parent / "src" / "covey" / "testing"


def test_the_manifest_and_the_tests_agree() -> None:
    manifest = read_manifest(TESTS / "requirements.toml")
    assert disagreements(manifest, named_ids([TESTS, CONTRACTS])) == []


def requirement(id_: str, *, claimed: bool) -> dict[str, Requirement]:
    return {id_: Requirement(id=id_, origin="beyond", text="…", claimed=claimed)}


def test_marks_are_found_wherever_pytest_allows_them(tmp_path: Path) -> None:
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "test_some.py").write_text(
        """
import pytest
pytestmark = [pytest.mark.requirement("a.module")]

@pytest.mark.requirement("a.function", "a.second")
def test_one(): ...

@pytest.mark.requirement("a.coroutine")
async def test_two(): ...

@pytest.mark.requirement("a.class")
class TestThree:
    pytestmark = pytest.mark.requirement("a.class-body")

    @pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.requirement("a.param"))])
    @pytest.mark.requirement("a.method")
    def test_four(self, n): "not pytest.mark.requirement('a.text')"
"""
    )
    assert set(named_ids([tmp_path])) == {
        "a.module", "a.function", "a.second", "a.coroutine", "a.class", "a.class-body", "a.param", "a.method",
    }  # fmt: skip


def test_an_id_that_is_not_in_the_manifest_is_reported(tmp_path: Path) -> None:
    source = tmp_path / "test_it.py"
    source.write_text("import pytest\n@pytest.mark.requirement('no.such')\ndef test_it(): ...\n")
    assert disagreements({}, named_ids([tmp_path])) == [f"{source}:2 names no.such, which is not in the manifest"]


def test_a_claimed_id_without_a_test_is_reported(tmp_path: Path) -> None:
    found = disagreements(requirement("a.claim", claimed=True), named_ids([tmp_path]))
    assert found == ["a.claim is claimed, and no test names it"]


def test_a_named_id_that_is_not_claimed_is_reported() -> None:
    found = disagreements(requirement("a.claim", claimed=False), {"a.claim": "test_it.py:1"})
    assert found == ["test_it.py:1 names a.claim, which the manifest does not claim"]


def test_a_claimed_and_named_id_is_in_order() -> None:
    assert disagreements(requirement("a.claim", claimed=True), {"a.claim": "test_it.py:1"}) == []


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("import pytest\n@pytest.mark.requirement('a.b')\ndef helper(): ...\n", "is not a test"),
        ("import pytest\n@pytest.mark.requirement(ID)\ndef test_it(): ...\n", "written out"),
    ],
)
def test_a_mark_that_proves_nothing_is_an_error(tmp_path: Path, source: str, complaint: str) -> None:
    (tmp_path / "test_it.py").write_text(source)
    with pytest.raises(ValueError, match=complaint):
        named_ids([tmp_path])


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        (["a.b beyond", "a.b peers"], "listed twice"),
        (["a.b nowhere"], "unknown origin"),
    ],
)
def test_a_malformed_manifest_is_an_error(tmp_path: Path, entries: list[str], complaint: str) -> None:
    manifest = tmp_path / "requirements.toml"
    lines = [entry.split() for entry in entries]
    manifest.write_text(
        "".join(
            f'[[requirement]]\nid = "{id_}"\norigin = "{origin}"\ntext = "…"\nclaimed = false\n'
            for id_, origin in lines
        )
    )
    with pytest.raises(ValueError, match=complaint):
        read_manifest(manifest)
