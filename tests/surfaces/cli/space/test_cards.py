"""The card of an agent as `covey join` changes it: what is given, and nothing else."""

from typing import Any

import pytest

from covey.core.directory.card import Card, encode_card
from covey.surfaces.cli.exits import DONE, USAGE
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey


def card_of(covey: Covey, name: str) -> dict[str, Any]:
    (document,) = covey("agents", name, "--json").json
    return {field: document[field] for field in encode_card(Card())}


def join(covey: Covey, *options: str) -> None:
    assert covey("join", "coder", "--lease", "1h", *options).code == DONE


def test_every_field_that_is_given_is_set_and_the_others_stay(covey: Covey) -> None:
    join(covey, "--quota", "7", "--workspace", "/srv")
    join(covey, "--command", "claude -p '{prompt} now'", "--max-depth", "2", "--max-children", "8")
    join(covey, "--allow-spawn", "critic", "--allow-spawn", "lead", "--inbox-limit", "20")
    join(covey, "--inbox-overflow", "evict-oldest")
    assert card_of(covey, "coder") == {
        **encode_card(Card()),
        "quota": 7,
        "workspace": "/srv",
        "command": ["claude", "-p", "{prompt} now"],
        "max_depth": 2,
        "max_children": 8,
        "allow_spawn": ["critic", "lead"],
        "capacity": {"limit": 20, "overflow": "evict-oldest"},
    }


def test_an_empty_command_takes_it_off_the_card(covey: Covey) -> None:
    join(covey, "--command", "./do")
    join(covey, "--command", "")
    assert card_of(covey, "coder")["command"] == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--command", "sh 'unfinished"), "quote it as in a shell"),
        (("--max-children", "-1"), "max_children -1 is not valid"),
        (("--max-depth", "x"), "--max-depth"),
        (("--allow-spawn", "no such name"), "is not valid"),
        (("--inbox-limit", "0"), "use a whole number from 1"),
        (("--inbox-overflow", "burst"), "--inbox-overflow"),
    ],
)
def test_a_wrong_value_is_named_and_changes_nothing(covey: Covey, options: tuple[str, ...], says: str) -> None:
    join(covey)
    said = covey("join", "coder", "--lease", "1h", *options)
    assert said.code == USAGE
    assert says in said.err
    assert card_of(covey, "coder") == encode_card(Card())


def test_as_a_real_process(folder: Folder) -> None:
    said = folder.covey("join", "coder", "--lease", "1h", "--command", "./do {task}", "--json")
    assert said.code == DONE
    assert said.json["agent"] == "coder"
    (document,) = folder.covey("agents", "coder", "--json").json
    assert document["command"] == ["./do", "{task}"]
