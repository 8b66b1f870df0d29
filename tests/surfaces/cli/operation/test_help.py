"""Help that teaches: the overview, the topics, and the help of each verb."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from covey.core.identity import Grade
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.offer import EvidenceGrade
from covey.surfaces.cli import exits, topics
from covey.surfaces.cli.catalogue import GROUPS, VERBS
from covey.surfaces.cli.exits import DONE, USAGE
from covey.surfaces.cli.main import load, parser_of
from covey.surfaces.cli.operation.help import DAILY
from covey.surfaces.cli.topics import TOPICS, topic
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey

WIDTH, HEIGHT = 80, 24
SOURCES = Path(topics.__file__).parents[3]
MESSAGE_ID = re.compile(r"[0-9]{13}-[0-9a-f]{8}-")

COMMAND = re.compile(r"(^|\| |\$\()covey [a-z]")

STUBS = """\
covey() { local IFS=$'\\x1f'; printf '%s\\x1e' "$*" >> "$TOLD"; }
git() { :; }; make() { :; }; jq() { :; }; gunzip() { :; }; source() { :; }
"""
"""A shell in which every command is only told, and nothing is done. Each is told by one write, because both sides of a
pipe tell at once."""


def commands(text: str, folder: Path) -> Sequence[list[str]]:
    """Return the commands that a text shows, as a shell reads them: its indented lines, as far as no explanation
    follows after three spaces."""
    shown = [line.strip().partition("   ")[0] for line in text.splitlines() if line.startswith("  ")]
    lines = [line for n, line in enumerate(shown) if COMMAND.search(line) or (n and shown[n - 1].endswith("\\"))]
    told = folder / "told"
    told.touch()
    environment = {"PATH": os.environ["PATH"], "TOLD": str(told)}
    script = STUBS + "\n".join(lines)
    done = subprocess.run(
        ["bash", "-c", script], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20
    )
    assert done.stderr == "", f"{done.stderr} in {script}"
    found = [words.split("\x1f") for words in told.read_text().split("\x1e")[:-1]]
    assert len(found) == sum(line.count("covey ") for line in lines), lines
    told.unlink()
    return found


def check_parses(words: list[str]) -> None:
    """Fail where a command that is shown would not be understood."""
    verb, *rest = words
    assert verb in VERBS, words
    parser_of(verb).parse_args(rest)


def test_the_first_page_has_the_verbs_of_every_day_and_fits_a_terminal(covey: Covey) -> None:
    said = covey()
    assert said.code == DONE
    assert said.out == covey("--help").out == covey("-h").out == covey("help").out
    lines = said.out.splitlines()
    assert len(lines) < HEIGHT
    assert max(map(len, lines)) <= WIDTH
    for purpose, verbs in DAILY.items():
        assert sum(line.startswith(f"{purpose} ") for line in lines) == 1
        for verb in verbs:
            assert sum(line[10:] == f"{verb:<10}{VERBS[verb].summary}" for line in lines) == 1, verb
    for words in re.findall(r"`covey (.*?)`", said.out):
        assert words == "help NAME" or covey(*words.split()).code == DONE


def test_help_all_lists_every_verb_by_group_and_every_topic(covey: Covey) -> None:
    said = covey("help", "all")
    assert said.code == DONE
    assert [said.out.index(f"{group}:\n") for group in GROUPS] == sorted(said.out.index(f"{g}:\n") for g in GROUPS)
    for verb, entry in VERBS.items():
        assert re.search(rf"^  {verb} +{re.escape(entry.summary)}$", said.out, re.MULTILINE), verb
    for name in TOPICS:
        assert re.search(rf"\b{name}\b", said.out), name
    assert max(map(len, said.out.splitlines())) <= WIDTH


def test_the_verbs_of_agent_loops_are_under_help_dialogue(covey: Covey) -> None:
    page = covey("help", "dialogue").out
    assert [verb for verb in VERBS if verb.startswith("messages-") and f"  {verb} " not in page] == []
    assert "messages-" not in covey().out


def test_the_page_for_beginners_works_as_it_is_shown(folder: Folder) -> None:
    for words in commands(topic("start"), folder.path):
        expected = exits.REFUSED if words[0] == "gate" and folder.covey("owed", "coder", "--json").json else DONE
        assert folder.covey(*words).code == expected, words
    assert folder.covey("gate", "T-1").code == DONE


@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_fits_and_shows_only_commands_that_are_understood(covey: Covey, tmp_path: Path, name: str) -> None:
    said = covey("help", name)
    assert said.code == DONE
    assert max(map(len, said.out.splitlines())) < WIDTH
    assert covey("help", name, "--json").json["text"].startswith(said.out.rstrip("\n"))
    for words in commands(topic(name), tmp_path):
        check_parses(words)


def test_the_pages_are_those_of_the_catalogue() -> None:
    assert {path.stem for path in Path(topics.__file__).parent.glob("*.txt")} == set(TOPICS)


def test_the_pages_say_what_the_code_says() -> None:
    ledger, identity, codes, environment = map(topic, ("ledger", "identity", "exit-codes", "environment"))
    assert [word for word in (*DeliveryState, *EvidenceGrade) if word not in ledger] == []
    assert [grade for grade in Grade if f"  {grade} " not in identity] == []
    known = {value for value in vars(exits).values() if isinstance(value, int)}
    assert {int(code) for code in re.findall(r"^  ([0-9]+) ", codes, re.MULTILINE)} == known
    read = {
        name
        for path in SOURCES.rglob("*.py")
        for name in re.findall(r"\bCOVEY_[A-Z_]+\b", path.read_text(encoding="utf-8"))
        if "testing" not in path.parts
    }
    assert read == set(re.findall(r"^  (COVEY_[A-Z_]+)", environment, re.MULTILINE))


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_explains_itself_and_its_examples_are_understood(
    covey: Covey, verb: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    page = parser_of(verb).format_help()
    assert page.startswith(f"usage: covey {verb} ")
    said = covey("help", verb).out
    assert said.startswith(topic(verb) if verb in TOPICS else page.rstrip("\n"))
    wide = [line for line in page.splitlines() if len(line) > WIDTH and not MESSAGE_ID.search(line)]
    assert wide == []
    for words in commands(load(verb).examples or "", tmp_path):
        check_parses(words)


@pytest.mark.parametrize(
    ("word", "says"),
    [("ledgr", "did you mean ledger?"), ("inbx", "did you mean inbox?"), ("quux", "`covey help all` lists")],
)
def test_an_unknown_topic_names_the_closest(covey: Covey, word: str, says: str) -> None:
    said = covey("help", word)
    assert (said.code, said.out) == (USAGE, "")
    assert says in said.err
    assert covey("help", word, "--json").json["error"]["code"] == "invalid"


def test_as_a_real_process(folder: Folder) -> None:
    assert folder.covey("help", "gate").out.startswith("THE GATE\n")
    assert folder.covey("help", "send").out.startswith("usage: covey send ")
    assert folder.covey("help", "sned").code == USAGE
    assert folder.covey("help", "a", "b").code == USAGE
