"""Late loading: a name that is loaded late is the same object as one that is imported directly."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import covey
from covey import ports
from covey.core.late import late, late_names


class Counter:
    def __init__(self) -> None:
        self.made = 0

    @late
    def value(self):
        self.made += 1
        return self.made


def test_a_late_property_is_computed_at_its_first_use_and_kept() -> None:
    counter = Counter()
    assert counter.made == 0
    assert (counter.value, counter.value, counter.made) == (1, 1, 1)
    assert Counter().value == 1


def test_a_late_name_comes_from_its_module() -> None:
    find = late_names("here", {"Path": "pathlib"})
    assert find("Path") is Path
    with pytest.raises(AttributeError, match="module 'here' has no attribute 'Nope'"):
        find("Nope")


@pytest.mark.parametrize("package", [covey, ports], ids=lambda package: package.__name__)
def test_every_name_that_a_stub_declares_exists(package: object) -> None:
    home = Path(str(getattr(package, "__file__", "")))
    declared = re.findall(r"^from (\S+) import (\w+) as \2$", home.with_suffix(".pyi").read_text(), re.MULTILINE)
    assert declared
    for module, name in declared:
        assert getattr(package, name) is getattr(import_module(module), name)
    in_homes = set(re.findall(r'^ +"(\w+)": "covey\.', home.read_text(), re.MULTILINE))
    assert in_homes == {name for _, name in declared}
