"""The errors reference: it agrees with the code."""

from covey.core import errors
from covey.core.errors import CoveyError
from tools.errors_page import BRANCHES, PAGE, leaves, page


def test_the_page_agrees_with_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python tools/errors_page.py`"


def test_every_error_of_the_core_is_on_the_page_once() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, error in vars(errors).items():
        if isinstance(error, type) and issubclass(error, CoveyError) and error not in {CoveyError, *BRANCHES}:
            assert text.count(f"| `{error.code}` | `{name}` |") == 1, name


def test_no_two_errors_have_the_same_code() -> None:
    codes = [leaf.code for branch in BRANCHES for leaf in leaves(branch)]
    assert len(codes) == len(set(codes))
