"""The catalogue of verbs: the home of each, and the modules that loading a verb imports."""

import subprocess
import sys

import pytest

from covey.surfaces.cli.call import Verb
from covey.surfaces.cli.catalogue import VERBS
from covey.surfaces.cli.main import load
from tests.test_imports import read_modules, targets

CLI = "covey.surfaces.cli"
LIMIT_S = 30

LOADED = """
import sys
from covey.surfaces.cli.main import load
load(sys.argv[1])
print(*sys.modules)
"""


def home(verb: str) -> str:
    """Return the full name of the module of a verb."""
    module = VERBS[verb].home.partition(":")[0]
    return module if module.startswith("covey.") else f"{CLI}.{module}"


@pytest.mark.parametrize("verb", VERBS)
def test_the_home_of_a_verb_is_a_constant_with_its_name(verb: str) -> None:
    assert VERBS[verb].home.partition(":")[2] == verb.upper().replace("-", "_")
    assert isinstance(load(verb), Verb)


def test_no_verb_imports_the_entry_point() -> None:
    modules = read_modules()
    known = set(modules)
    importers = {name for name in known if name.startswith(CLI) and f"{CLI}.main" in targets(modules[name], known)}
    assert importers == {f"{CLI}.process"}


@pytest.mark.parametrize("verb", ["send", "gate", "tasks", "sessions"])
def test_loading_a_verb_imports_the_module_of_no_other_verb(verb: str) -> None:
    command = [sys.executable, "-c", LOADED, verb]
    said = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    assert {home(other) for other in VERBS} & set(said.stdout.split()) == {home(verb)}
