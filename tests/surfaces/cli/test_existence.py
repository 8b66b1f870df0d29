"""A missing space is reported as missing, and only verbs that create spaces create one."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

import covey as api
from covey.core.errors import SpaceMissing
from covey.surfaces.cli.catalogue import VERBS, Use
from covey.surfaces.cli.exits import DONE, UNAVAILABLE, USAGE
from covey.surfaces.cli.main import main
from tests.surfaces.commands import Said

ID: Final = "1730000000123-9b3e0d6a-3b52-4b7e-9a5d-0f6f0d1c2b3a"

WORDS: Final[Mapping[str, Sequence[str]]] = {
    "leave": ("--agent", "coder"),
    "reply": (ID, "yes", "--agent", "coder"),
    "approve": (ID, "--agent", "coder"),
    "reject": (ID, "--agent", "coder", "--reason", "no"),
    "inbox": ("coder",),
    "watch": ("coder", "--for", "1s"),
    "handle": (ID, "--agent", "coder"),
    "dismiss": (ID, "--agent", "coder"),
    "withdraw": (ID, "--agent", "coder"),
    "search": ("style",),
    "thread": (ID,),
    "owed": ("coder",),
    "gate": ("T-1",),
    "archive": (ID, "--agent", "coder"),
    "sweep": ("T-1", "--agent", "coder"),
    "messages-inbox": ("--agent", "coder"),
    "messages-archive": (ID,),
    "messages-thread": (ID,),
    "task": (ID,),
    "accept": (ID, "--agent", "coder"),
    "update": (ID, "--agent", "coder", "--start"),
    "cancel": (ID, "--agent", "coder"),
    "say": ("main", "hello", "--agent", "coder"),
    "stop": ("child",),
    "receipt": (ID,),
    "token": ("create", "--operator"),
    "prune": ("--older-than", "30d"),
    "backup": ("space.covey",),
    "export": ("space.jsonl",),
}
"""The arguments that a verb requires. A verb without an entry requires none."""

MAKERS: Final[Mapping[str, Sequence[str]]] = {
    "init": (),
    "join": ("coder",),
    "send": ("hello", "--from", "critic", "--to", "coder", "--register"),
    "ask": ("why?", "--from", "critic", "--to", "coder", "--register", "--timeout", "0s"),
    "delegate": ("build", "--from", "critic", "--to", "coder", "--register", "--no-wait"),
}
"""Verbs that create a space with one short command. Other creating verbs serve, run programs, or read a file first."""

NEEDY = [verb for verb, entry in VERBS.items() if entry.use not in (Use.NOTHING, Use.MAKES)]

Covey = Callable[..., Said]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Covey:
    """Run commands in an empty folder next to an empty home folder."""
    for name in [name for name in os.environ if name.startswith("COVEY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for folder in ("home", "project"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "project")

    def run(*words: str) -> Said:
        code = main(words)
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return run


def tree(root: Path) -> set[Path]:
    return set(root.rglob("*"))


@pytest.mark.requirement("trust.gate")
@pytest.mark.parametrize("verb", NEEDY)
def test_a_verb_that_creates_no_space_exits_4_and_creates_nothing(verb: str, nowhere: Covey, tmp_path: Path) -> None:
    before = tree(tmp_path)
    said = nowhere(verb, *WORDS.get(verb, ()))
    assert said.code == UNAVAILABLE, said
    assert "covey init" in said.err + said.out
    assert tree(tmp_path) == before


@pytest.mark.parametrize("verb", NEEDY)
def test_a_named_store_that_does_not_exist_is_reported_and_not_created(
    verb: str, nowhere: Covey, tmp_path: Path
) -> None:
    assert nowhere("init").code == DONE
    before = tree(tmp_path)
    for store in ("sqlite:typo/covey.db", "files:typo?layout=dialogue", "files:.covey/covey.db?layout=mailbox"):
        said = nowhere(verb, *WORDS.get(verb, ()), "--store", store)
        assert said.code == UNAVAILABLE, said
        assert "covey init" in said.err + said.out
    assert tree(tmp_path) == before


@pytest.mark.requirement("trust.gate")
@pytest.mark.parametrize("verb", NEEDY)
def test_a_space_in_memory_is_missing_at_the_start_of_each_command(verb: str, nowhere: Covey) -> None:
    said = nowhere(verb, *WORDS.get(verb, ()), "--store", "memory:")
    is_refused_otherwise = VERBS[verb].use is Use.EXAMINES or verb in ("backup", "prune", "export")
    assert said.code == UNAVAILABLE or is_refused_otherwise, said


def test_a_named_store_can_come_from_the_environment(
    nowhere: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COVEY_STORE", f"sqlite:{tmp_path}/typo.db")
    said = nowhere("gate", "T-1", "--json")
    assert said.code == UNAVAILABLE
    assert said.json["error"]["code"] == "space-missing"
    assert f"covey init --store sqlite:{tmp_path}/typo.db" in said.json["error"]["message"]
    assert list(tmp_path.rglob("*.db*")) == []


@pytest.mark.parametrize("verb", NEEDY)
@pytest.mark.parametrize("kind", ["folder", "text"])
def test_a_path_of_another_kind_is_refused_and_left_alone(verb: str, kind: str, nowhere: Covey, tmp_path: Path) -> None:
    place = tmp_path / "project" / "place"
    if kind == "folder":
        place.mkdir()
    else:
        place.write_text("these are notes\n" * 100)
    before = tree(tmp_path)
    said = nowhere(verb, *WORDS.get(verb, ()), "--store", f"sqlite:{place}")
    codes = {"doctor": (1, UNAVAILABLE), "top": (USAGE,)}  # top needs a terminal first of all
    assert said.code in codes.get(verb, (UNAVAILABLE,)), said
    assert tree(tmp_path) == before


@pytest.mark.parametrize("verb", MAKERS)
def test_a_verb_that_creates_a_space_names_it(verb: str, nowhere: Covey, tmp_path: Path) -> None:
    said = nowhere(verb, *MAKERS[verb])
    made = tmp_path / ("project" if verb == "init" else "home") / ".covey" / "covey.db"
    assert made.exists(), said
    assert f"sqlite:{made}" in said.out + said.err
    again = nowhere(verb, *MAKERS[verb])
    assert "new space" not in again.out + again.err


def test_a_verb_that_creates_a_space_keeps_its_json_clean(nowhere: Covey) -> None:
    said = nowhere("send", *MAKERS["send"], "--json")
    assert said.code == DONE
    assert said.json["id"]


def test_a_wrong_call_of_a_creating_verb_creates_no_space(nowhere: Covey, tmp_path: Path) -> None:
    said = nowhere("send", "hello", "--from", "not a name", "--to", "coder")
    assert said.code == 2
    assert "new space" not in said.err
    assert list(tmp_path.rglob(".covey")) == []


def test_the_home_folders_space_is_named_when_used_from_elsewhere(nowhere: Covey) -> None:
    assert nowhere("send", *MAKERS["send"]).code == DONE
    said = nowhere("inbox", "coder")
    assert said.code == DONE
    assert ".covey/covey.db" in said.err


@pytest.mark.requirement("trust.gate")
def test_a_gate_does_not_use_the_home_folders_space(
    nowhere: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert nowhere("send", *MAKERS["send"]).code == DONE
    assert nowhere("gate", "T-1").code == UNAVAILABLE
    below = tmp_path / "home" / "project"
    below.mkdir()
    monkeypatch.chdir(below)
    assert nowhere("gate", "T-1").code == UNAVAILABLE
    assert nowhere("gate", "T-1", "--store", "sqlite:~/.covey/covey.db").code == DONE
    monkeypatch.chdir(tmp_path / "home")
    assert nowhere("gate", "T-1").code == DONE


def test_a_move_of_a_missing_space_creates_nothing(nowhere: Covey, tmp_path: Path) -> None:
    before = tree(tmp_path)
    for source in ("sqlite:typo.db", "files:typo"):
        assert nowhere("move", source, "sqlite:elsewhere/covey.db").code == UNAVAILABLE
    assert tree(tmp_path) == before


async def test_a_program_can_open_only_a_space_that_exists(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/place/covey.db"
    with pytest.raises(SpaceMissing):
        async with api.open(url, create=False):
            pass
    assert tree(tmp_path) == set()
    async with api.open(url) as space:
        assert await space.agents() == []
    async with api.open(url, create=False) as space:
        assert await space.agents() == []
