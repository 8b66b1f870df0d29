"""Suggestions for a mistyped name."""

from string import ascii_lowercase

import pytest

from covey.core.reporting import LONGEST, closest

KNOWN = [
    "archive",
    "ask",
    "coder",
    "critic",
    "doctor",
    "inbox",
    "list_peers",
    "operator",
    "owed",
    "receipt",
    "task",
    "to",
]


def slips(name: str) -> set[str]:
    """Return the name with one letter added, dropped or changed, or with two adjacent letters swapped."""
    cuts = [(name[:n], name[n:]) for n in range(len(name) + 1)]
    added = {a + letter + b for a, b in cuts for letter in ascii_lowercase}
    dropped = {a + b[1:] for a, b in cuts if b}
    changed = {a + letter + b[1:] for a, b in cuts if b for letter in ascii_lowercase}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    return added | dropped | changed | swapped


@pytest.mark.parametrize("name", KNOWN)
def test_a_name_with_one_typo_is_found(name: str) -> None:
    # In a name of two letters, a swap keeps only one letter in order. No name is suggested for a single letter.
    assert [slip for slip in slips(name) if len(slip) > 1 and name not in closest(slip, [name])] == []


def test_the_most_similar_name_is_first_and_equals_are_in_order() -> None:
    assert closest("critik", ["critics", "critique", "critic"]) == ["critic", "critics", "critique"]
    assert closest("wrk", ["works", "worker", "wark", "work"], limit=2) == ["wark", "work"]


def test_case_does_not_matter_and_names_keep_their_known_spelling() -> None:
    assert closest("CODR", ["Coder"]) == ["Coder"]


@pytest.mark.parametrize("wanted", ["", "x", "subscribe", "frobnicate", "é" * 5, "send_to_peer", "status"])
def test_nothing_is_suggested_if_no_name_is_close(wanted: str) -> None:
    assert not closest(wanted, KNOWN)


def test_the_length_of_a_name_has_a_bound() -> None:
    assert closest("x" * LONGEST, ["x" * LONGEST]) == ["x" * LONGEST]
    assert closest("x" * (LONGEST + 1), ["x" * (LONGEST + 1)]) == ()
    assert closest("x", ["x" * 100_000]) == []
