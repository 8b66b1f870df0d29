"""The examples: each runs as a separate program, prints the expected output, and leaves nothing behind."""

import re
import sys
from pathlib import Path

import pytest

from covey.core.work.spawning import matrix
from tests.docs.snippets import Use, snippets
from tests.surfaces.commands import Folder
from tests.surfaces.work.desk import marked

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TEAMS = ROOT / "docs" / "how-to" / "teams.md"

SAYS = {
    "fan_out": """\
aeons.txt    timed_out  so far: forever
apples.txt   completed  6 words
birds.txt    completed  5 words
clouds.txt   completed  5 words
dust.txt     failed     ValueError: there is nothing in it
frogs.txt    completed  5 words
4 of 6 pieces are done.
""",
    "pipeline": """\
how locks work → How locks work: locks and leases end with their process.
why we use tabs → failed at check: we do not use tabs
what a lease is → What a lease is: locks and leases end with their process.
""",
    "review_pair": """\
round 1: rejected, an empty text should give an empty list
round 2: rejected, the types are missing
round 3: approved, good
def parse(text: str) -> list[str]: return text.split(',') if text else []
They agree.
The gate is open.
""",
    "long_lived_helper": """\
librarian: Noted, that makes 1.
lead: Remember: releases are on Fridays → Noted, that makes 2.
lead: Where is the parser? → the parser is in core/parse.py
on the desk: desk/library librarian: Noted, that makes 1.
on the desk: desk/library librarian: Noted, that makes 2.
on the desk: desk/library librarian: the parser is in core/parse.py
on the desk: desk/library librarian: releases are on Fridays
librarian: stopped, the office closes
""",
}


@pytest.mark.requirement("sessions.docs")
@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_to_its_end_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    said = Folder(home).run([sys.executable, str(EXAMPLES / f"{name}.py")], TMPDIR=str(temporary))
    assert said == (0, SAYS[name], "")
    assert list(home.iterdir()) == []
    assert list(temporary.iterdir()) == []
    assert marked("TMPDIR", str(temporary)) == []


def test_a_process_that_is_left_would_be_found(tmp_path: Path) -> None:
    store = ("--store", f"sqlite:{tmp_path}/covey.db")
    assert Folder(tmp_path).covey("init", *store).code == 0
    with Folder(tmp_path).start("watch", *store) as left:
        left.line("err")  # the program runs, and does not exec another one
        assert len(marked("HOME", str(tmp_path))) == 1


@pytest.mark.requirement("sessions.docs")
def test_every_pattern_has_its_example_and_is_described() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAYS)
    for page in (TEAMS, EXAMPLES / "README.md"):
        text = page.read_text(encoding="utf-8")
        assert [name for name in SAYS if f"{name}.py" not in text] == [], page.name


@pytest.mark.requirement("sessions.docs")
def test_the_code_on_the_teams_page_is_in_the_examples() -> None:
    """A mark before a block names its example; … stands for omitted lines."""
    shown = [(block.what.removeprefix("from "), block.code) for block in snippets(TEAMS) if block.use is Use.NO_RUN]
    assert {name for name, _ in shown} == {f"{name}.py" for name in SAYS}
    for name, code in shown:
        pieces = [_unindented(piece) for piece in re.split(r"^ *…\n", code, flags=re.MULTILINE)]
        example = _unindented((EXAMPLES / name).read_text(encoding="utf-8"))
        assert re.search(".*".join(map(re.escape, pieces)), example, re.DOTALL), f"{name} does not have\n{code}"


def _unindented(code: str) -> str:
    return re.sub(r"^ +", "", code, flags=re.MULTILINE)


def test_the_outputs_and_errors_on_the_page_are_correct() -> None:
    text = TEAMS.read_text(encoding="utf-8")
    (printed,) = re.findall(r"^```text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert set(printed.splitlines()) < set(SAYS["fan_out"].splitlines())
    codes = re.findall(r"`([a-z]+-[a-z-]+)`", text)
    errors = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    assert "spawn-limit" in codes
    assert [code for code in codes if f"| `{code}` |" not in errors] == []


def test_the_page_on_teams_has_the_matrix_of_the_coordinators_role_text() -> None:
    assert f"\n{matrix()}\n" in TEAMS.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SAYS)
def test_an_example_says_where_a_real_model_is_called(name: str) -> None:
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert re.search(r"real call .*goes here", text)
