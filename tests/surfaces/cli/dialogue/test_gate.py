"""covey gate and sweep: passing a scope only when nothing in it is owed."""

from collections.abc import Sequence

import pytest

from covey.surfaces.cli.exits import DONE, REFUSED, USAGE
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey

FORCE = ("--force-commit-phase", "--why", "the critic has retired", "--agent", "lead")


def ask(covey: Covey) -> None:
    """Let the critic ask the coder twice, and tell it something."""
    for subject in ("style", "tests"):
        words = ("--request", "--scope", "T-1", "--subject", subject, "--register")
        assert covey("send", "why?", "--from", "critic", "--to", "coder", *words).code == DONE
    assert covey("send", "mind the tabs", "--from", "critic", "--to", "coder", "--scope", "T-1").code == DONE


def settle(covey: Covey) -> None:
    for number in ("1", "2"):
        assert covey("reply", number, "done", "--from", "coder", "--close").code == DONE


def test_a_closed_gate_says_who_owes_what(covey: Covey) -> None:
    ask(covey)
    assert covey("reply", "1", "fixed", "--as", "coder", "--keep-open").code == DONE
    said = covey("gate", "T-1")
    assert said.code == REFUSED
    head, style, tests = said.out.splitlines()
    assert head.split()[:3] == ["debtor", "asker", "age"]
    assert "answered, not archived" in style
    assert tests.split()[3] == "open"
    assert said.err.startswith("covey: scope T-1 has 2 unarchived request(s): style, tests.")
    error = covey("gate", "T-1", "--json").json["error"]
    assert error["code"] == "loop-commit-precondition-missing"
    assert (error["details"]["observed_pending_replies"], error["details"]["missing"]) == (2, "pending-replies-cleared")


def test_an_open_gate_can_be_swept_in_one_step(covey: Covey) -> None:
    ask(covey)
    settle(covey)
    assert covey("gate", "T-1").out == "Nothing is owed in T-1.\n"
    assert covey("gate", "T-1", "--json").json == {"scope": "T-1", "passed": True, "forced_over": []}
    assert covey("gate", "T-1", "--sweep", "--agent", "lead", "--json").json["messages_swept"] == 5
    assert covey("inbox", "coder", "--json").json == []
    assert covey("sweep", "T-1", "--agent", "lead").out == "0 message(s) of T-1 are put away.\n"


def test_a_sweep_needs_an_open_gate(covey: Covey) -> None:
    ask(covey)
    said = covey("sweep", "T-1", "--agent", "lead", "--json")
    assert (said.code, said.json["error"]["code"]) == (REFUSED, "loop-commit-precondition-missing")
    assert covey("gate", "T-1", "--sweep", "--agent", "lead").code == REFUSED
    settle(covey)
    swept = covey("sweep", "T-1", "--agent", "lead", "--json").json
    assert swept == {"scope": "T-1", "messages_swept": 5, "forced_over": []}
    assert len(covey("search", "why", "--json").json) == 2, "what is put away is still found"


@pytest.mark.parametrize(
    "words", [["gate", "T-1", *FORCE], ["gate", "T-1", "--sweep", *FORCE], ["sweep", "T-1", *FORCE]]
)
def test_forcing_is_journalled_with_who_why_and_over_what(covey: Covey, words: Sequence[str]) -> None:
    ask(covey)
    said = covey(*words, "--json")
    assert (said.code, len(said.json["forced_over"])) == (DONE, 2)
    (event,) = covey("log", "--json", "--action", "gate.forced").json_lines
    assert (event["actor"]["agent"], event["details"]["why"]) == ("lead", "the critic has retired")
    assert len(event["details"]["over"]) == 2
    assert covey("gate", "T-1").code == DONE


def test_a_person_is_told_of_force(covey: Covey) -> None:
    ask(covey)
    assert covey("gate", "T-1", *FORCE).out == "The gate of T-1 was forced over 2 request(s).\n"
    ask(covey)
    assert covey("sweep", "T-1", *FORCE).out == "6 message(s) of T-1 are put away, by force over 2 request(s).\n"


@pytest.mark.parametrize("verb", ["gate", "sweep"])
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["T-1", "--force-commit-phase", "--agent", "lead"], "--why is missing"),
        (["T-1", "--force-commit-phase", "--why", " ", "--agent", "lead"], "needs a reason"),
        (["T-1", "--why", "because", "--agent", "lead"], "it is for --force-commit-phase"),
        (["T-1", "--force-commit-phase", "--why", "because"], "name the acting agent"),
        (["not a\nscope"], "scope"),
        ([], "SCOPE"),
    ],
)
def test_a_gate_is_not_forced_by_halves(covey: Covey, verb: str, words: Sequence[str], says: str) -> None:
    ask(covey)
    said = covey(verb, *words)
    assert (said.code, said.out) == (USAGE, "")
    assert says in said.err
    assert covey("gate", "T-1").code == REFUSED


def test_as_real_processes(folder: Folder) -> None:
    ask(folder.covey)
    hook = folder.run(["sh", "-c", "covey gate T-1 >/dev/null 2>&1 && echo committed"])
    assert (hook.code, hook.out) == (REFUSED, "")
    settle(folder.covey)
    hook = folder.run(["sh", "-c", "covey gate T-1 >/dev/null && echo committed"])
    assert (hook.code, hook.out) == (DONE, "committed\n")
    assert folder.covey("sweep", "T-1", "--json", COVEY_AGENT="lead").json["messages_swept"] == 5
    assert folder.covey("sweep", "T-1").code == USAGE
