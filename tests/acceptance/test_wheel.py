"""The wheel, installed into an empty environment outside the clone: bare, and with each extra by itself."""

import json
import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DECLARED: dict[str, list[str]] = PROJECT.get("optional-dependencies", {})
EXTRAS = {name: needs for name, needs in DECLARED.items() if name != "all"}

LIMIT_S = 120.0


class Feature(NamedTuple):
    """A feature that needs an extra, with the command line that uses it."""

    extra: str
    words: Sequence[str]


FEATURES: Sequence[Feature] = (
    Feature("mcp", ("mcp",)),
    Feature("nats", ("nats", "permissions", "coder", "--space", "team")),
)
"""At least one for each extra. A server ends at once if its input is empty, as it is here."""

IMPORT_ALL = """
import importlib, pkgutil, covey
others = ("testing", "__main__", "surfaces.mcp.", "adapters.nats.", "engines.nats_ports")
for module in pkgutil.walk_packages(covey.__path__, "covey."):
    if not module.name.startswith(tuple(f"covey.{name}" for name in others)):
        importlib.import_module(module.name)
import covey.surfaces.mcp.verb
print(covey.__file__)
"""
"""Imports every module except those for tests of adapters, which need pytest, and those that need an extra."""


class Environment:
    """A virtual environment that contains only the installed wheel and its dependencies, and a folder to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "env"
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        venv.create(self.folder, with_pip=False)

    def pip(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the pip of the test environment on this environment."""
        own = ("--python", str(self.folder / "bin" / "python"), "--disable-pip-version-check", "--no-input")
        return _run([sys.executable, "-m", "pip", *own, *words], self.work, dict(os.environ))

    def run(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run an installed program. It sees nothing of the clone and none of this user's settings."""
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.work), "LANG": "C.UTF-8"}
        return _run([str(self.folder / "bin" / program), *words], self.work, environment)

    def covey(self, *words: str) -> str:
        """Run a command that must succeed. Return its output."""
        done = self.run("covey", *words)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def install(self, wheel: str) -> None:
        """Install the wheel with its dependencies from the package index, in the versions used for development."""
        alone = self.pip("install", "--no-deps", "--no-index", wheel.partition("[")[0])
        assert alone.returncode == 0, alone.stderr
        done = self.pip("install", "--no-compile", "--constraint", str(ROOT / "constraints.txt"), wheel)
        if done.returncode != 0:
            pytest.skip(f"the dependencies of {wheel} can't be installed: {done.stderr.strip().splitlines()[-1]}")


def _run(command: Sequence[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with the tools of this environment."""
    for tool in ("build", "hatchling"):
        if find_spec(tool) is None:
            pytest.skip(f"{tool} is not installed: make setup")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = _run(command, folder, dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel and no extra."""
    environment = Environment(tmp_path_factory.mktemp("bare"))
    environment.install(str(wheel))
    return environment


def test_every_file_of_the_package_is_in_the_wheel_and_nothing_else(wheel: Path) -> None:
    package = ROOT / "src" / "covey"
    here = {
        str(path.relative_to(ROOT / "src"))
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    assert {name for name in inside if ".dist-info/" not in name} == here
    assert {"covey/py.typed", "covey/adapters/sqlite/sql/migrations/0001_ledger.sql"} <= inside
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in inside)


@pytest.mark.requirement("operate.wheel")
@pytest.mark.timeout(240)
def test_the_bare_wheel_does_everything_that_needs_no_extra(bare: Environment) -> None:
    assert bare.covey("version").startswith("covey ")
    bare.covey("init")
    (bare.work / "notes.txt").write_text("as it was")
    send = ("send", "hello", "--from", "ann", "--to", "bob", "--register", "--request", "--file", "notes.txt")
    sent = json.loads(bare.covey(*send, "--json"))["id"]
    (item,) = json.loads(bare.covey("inbox", "bob", "--json"))
    assert (item["id"], item["text"]) == (sent, "hello")
    assert "hello" in bare.covey("inbox", "bob")
    assert sent in bare.covey("search", "hello", "--json")
    bare.covey("reply", sent, "yes", "--from", "bob")
    bare.covey("export", "space.jsonl")
    bare.covey("import", "space.jsonl", "--store", "sqlite:there/covey.db")
    assert bare.covey("demo")
    assert bare.run("covey", "inbox", "nobody").returncode == 3


@pytest.mark.requirement("operate.wheel")
@pytest.mark.timeout(240)
def test_the_bare_wheel_needs_nothing_that_it_does_not_declare(bare: Environment) -> None:
    done = bare.run("python", "-I", "-c", IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(bare.folder.resolve())
    checked = bare.pip("check")
    assert checked.returncode == 0, checked.stdout
    assert bare.run("python", "-m", "covey", "version").stdout == bare.covey("version")


@pytest.mark.requirement("operate.wheel")
@pytest.mark.timeout(240)
def test_a_feature_that_needs_an_extra_names_it_and_works_with_that_extra_alone(
    bare: Environment, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for extra in EXTRAS:
        features = [feature for feature in FEATURES if feature.extra == extra]
        for feature in features:
            refused = bare.run("covey", *feature.words, "--json")
            assert refused.returncode == 4
            error = json.loads(refused.stdout)["error"]
            assert (error["code"], error["details"]["extra"]) == ("extra-missing", extra)
        environment = Environment(tmp_path_factory.mktemp(extra))
        environment.install(f"{wheel}[{extra}]")
        for feature in features:
            environment.covey(*feature.words)


def test_every_declared_extra_brings_something_and_has_a_feature() -> None:
    assert all(EXTRAS.values()), "an extra that brings nothing is not declared"
    assert {feature.extra for feature in FEATURES} == set(EXTRAS)


def test_all_is_every_extra() -> None:
    assert DECLARED["all"] == [f"covey[{','.join(sorted(EXTRAS))}]"]
