"""Engines of third parties: an entry point adds a scheme, for programs and for the CLI."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from covey.core.errors import Invalid
from covey.engines import parse_store_url
from tests.docs.snippets import Use, snippets

pytestmark = pytest.mark.requirement("house.engines")

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-an-adapter.md"
LIMIT_S = 30


def install(folder: Path, **engines: str) -> None:
    """Put a distribution with entry points into a folder on the path."""
    metadata = folder / f"{'_'.join(engines)}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {metadata.stem}\nVersion: 1.0\n")
    points = "".join(f"{scheme} = {place}\n" for scheme, place in engines.items())
    (metadata / "entry_points.txt").write_text(f"[covey.engines]\n{points}")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def test_the_command_line_opens_an_installed_engine_by_its_url(folder: Path) -> None:
    for snippet in snippets(PAGE):
        if snippet.use is Use.FILE:
            (folder / snippet.what).write_text(snippet.code, encoding="utf-8")
    install(folder, shelf="shelf:engine")
    words = ["send", "hello", "--from", "lead", "--to", "coder", "--register", "--json", "--store", "shelf:team"]
    done = subprocess.run(
        [sys.executable, "-m", "covey", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    assert json.loads(done.stdout)["id"]


def test_the_error_for_an_unknown_scheme_names_those_of_third_parties_too(folder: Path) -> None:
    install(folder, cabinet="cabinet:engine", attic="attic:engine")
    with pytest.raises(Invalid, match="files:PATH, nats://HOST:PORT/SPACE, attic: or cabinet:"):
        parse_store_url("cellar:team")


@pytest.mark.parametrize("place", ["covey_has_no_such_module:engine", "json:engine"])
def test_an_engine_that_cannot_be_loaded_is_refused_and_named(folder: Path, place: str) -> None:
    install(folder, cabinet=place)
    with pytest.raises(Invalid, match=f"{place} can't be loaded"):
        parse_store_url("cabinet:team")


def test_a_third_party_cannot_take_the_place_of_an_engine_of_covey(folder: Path) -> None:
    install(folder, memory="covey_has_no_such_module:engine")
    assert parse_store_url("memory:").scheme == "memory"
