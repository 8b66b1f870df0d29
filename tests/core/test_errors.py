"""The tree of errors: every leaf has a unique code, advice, and a line in the tree of the module's docstring."""

import re
from collections.abc import Iterator

from covey.core import errors
from covey.core.errors import CoveyError, NotFound, Rejected, Unavailable

BRANCHES = (Rejected, NotFound, Unavailable)


def tree(root: type[CoveyError]) -> Iterator[type[CoveyError]]:
    """Yield the classes under `root`."""
    for child in root.__subclasses__():
        yield child
        yield from tree(child)


def ours() -> list[type[CoveyError]]:
    """Return the classes of the module, without those that tests define."""
    return [error for error in tree(CoveyError) if error.__module__ == errors.__name__]


def test_every_error_is_in_one_of_three_branches() -> None:
    assert set(CoveyError.__subclasses__()) == set(BRANCHES)
    assert all(issubclass(error, BRANCHES) for error in ours())


def test_codes_are_stable_names_and_differ() -> None:
    codes = [error.code for error in ours()]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in codes)


def test_every_leaf_says_what_to_do_next() -> None:
    assert [error.__name__ for error in ours() if error not in BRANCHES and not error.advice] == []


def test_only_unavailable_errors_are_worth_a_retry() -> None:
    assert all(issubclass(error, Unavailable) for error in ours() if error.retryable)


def test_the_tree_in_the_docstring_is_the_tree_in_the_code() -> None:
    shown = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")
    assert sorted(shown) == sorted(error.__name__ for error in ours())
