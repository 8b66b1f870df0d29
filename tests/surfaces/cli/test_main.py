"""The command line through `main(argv)`, and as a real process."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from covey.surfaces.cli.catalogue import GROUPS, VERBS
from covey.surfaces.cli.exits import DONE, NOT_FOUND, REFUSED, UNAVAILABLE, USAGE
from covey.surfaces.cli.main import main
from covey.surfaces.cli.terminal.text import printable
from tests.surfaces.conftest import Covey


def request(covey: Covey) -> str:
    """Send a request from the critic to the coder; return the id of the message."""
    words = ("send", "did you mean it?", "--from", "critic", "--to", "coder", "--request", "--scope", "T-1")
    said = covey(*words, "--subject", "style", "--register", "--json")
    assert said.code == DONE
    return said.json["id"]


def test_a_question_is_asked_answered_archived_and_the_gate_opens(covey: Covey) -> None:
    asked = request(covey)
    (item,) = covey("inbox", "coder", "--json").json
    assert (item["id"], item["from"], item["grade"], item["state"]) == (asked, "critic", "claimed", "queued")
    (owed,) = covey("owed", "coder", "--json").json
    assert (owed["message"], owed["state"]) == (asked, "open")
    closed = covey("gate", "T-1", "--json")
    assert closed.code == REFUSED
    assert closed.json["error"]["code"] == "loop-commit-precondition-missing"
    assert closed.json["error"]["details"]["pending_subjects"] == ["style"]
    early = covey("archive", asked, "--agent", "coder")
    assert (early.code, early.out) == (REFUSED, "")
    assert "Reply to it first" in early.err
    assert covey("reply", asked, "yes", "--as", "coder", "--keep-open").code == DONE
    assert covey("gate", "T-1").code == REFUSED
    assert covey("archive", asked, "--agent", "coder").code == DONE
    assert covey("gate", "T-1").out == "Nothing is owed in T-1.\n"
    first, second = covey("thread", asked).out.splitlines()
    assert first.startswith("request critic (claimed) → coder: did you mean it?")
    assert second.startswith("└─ response coder (claimed) → critic: yes")
    (copy,) = covey("receipt", asked, "--json").json["deliveries"]
    assert (copy["state"], copy["reason"]) == ("handled", "answered")
    actions = [json.loads(line)["action"] for line in covey("log", "--json", "--message", asked).out.splitlines()]
    assert actions == ["message.sent", "ticket.moved", "delivery.moved", "ticket.moved", "delivery.archived"]


def test_looking_at_an_inbox_changes_nothing(covey: Covey) -> None:
    request(covey)
    before = covey("log", "--json").out
    assert "did you mean it?" in covey("inbox", "coder").out
    assert covey("log", "--json").out == before


def test_a_forced_gate_needs_a_reason_and_is_journalled(covey: Covey) -> None:
    request(covey)
    assert covey("gate", "T-1", "--force-commit-phase", "--agent", "lead").code == USAGE
    assert covey("gate", "T-1", "--force-commit-phase", "--why", "deadline", "--agent", "lead").code == DONE
    (event,) = covey("log", "--json", "--action", "gate.forced").out.splitlines()
    assert (json.loads(event)["actor"]["agent"], json.loads(event)["details"]["why"]) == ("lead", "deadline")


def test_a_text_is_read_from_stdin_and_a_file_is_attached(
    covey: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text("as it was")
    reading, writing = os.pipe()
    os.write(writing, b"from a pipe")
    os.close(writing)
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert covey("send", "--from", "a", "--to", "b", "--register", "--file", "notes.txt").code == DONE
    (item,) = covey("inbox", "b", "--json").json
    assert item["text"] == "from a pipe"
    assert (item["parts"][1]["name"], item["parts"][1]["size"]) == ("notes.txt", 9)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["inbx"], USAGE, "did you mean inbox?"),
        (["frobnicate"], USAGE, "`covey help all` lists the verbs"),
        (["inbox", "codr"], NOT_FOUND, "did you mean coder?"),
        (["send", "hi", "--to", "coder"], USAGE, "name the acting agent"),
        (["send", "hi", "--from", "a", "--to", "codr"], NOT_FOUND, "did you mean coder?"),
        (["send", "hi", "--from", "../a", "--to", "coder"], USAGE, "A-Z a-z 0-9"),
        (["send", "hi", "--from", "operator", "--to", "coder"], REFUSED, "only a token makes an operator"),
        (["send", "--from", "a"], USAGE, "`covey send AGENT TEXT`"),
        (["send", "The tests fail.", "--as", "a"], USAGE, "`covey send AGENT TEXT`"),
        (["--bogus"], USAGE, "see `covey --help`"),
        (["--jsn"], USAGE, "did you mean --json?"),
        (["sned", "coder", "hi"], USAGE, "did you mean send?"),
        (["send", "coder", "hi", "--form", "a"], USAGE, "did you mean --as?"),
        (["inbox", "nobody"], NOT_FOUND, "`covey agents` lists the known agents.\n"),
        (["send", "hi", "--from", "a", "--to", "coder", "--expires", "soon"], USAGE, "use 90s, 10m"),
        (["send", "hi", "--from", "a", "--to", "coder", "--park", "--refuse"], USAGE, "not allowed with"),
        (["send", "hi", "--from", "a", "--to", "coder", "--refuse"], REFUSED, ""),
        (["receipt", "nope"], USAGE, "MILLISECONDS-UUID"),
        (["receipt", "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"], NOT_FOUND, "covey search WORD"),
        (["inbox", "coder", "--state", "lost"], USAGE, "invalid choice"),
        (["agents", "--store", "redis:x"], USAGE, "use memory:, sqlite:PATH, files:PATH or nats://"),
        (["init", "--store", "sqlite:/proc/nowhere/covey.db"], UNAVAILABLE, "can't be used"),
    ],
)
def test_a_wrong_command_says_what_to_do_and_has_its_exit_code(
    covey: Covey, words: Sequence[str], code: int, says: str
) -> None:
    request(covey)
    said = covey(*words)
    assert said.code == code
    assert says in said.err
    assert said.err.count("\n") <= 1
    as_json = covey(*words, "--json")
    assert as_json.code == code
    assert "error" in as_json.json or "deliveries" in as_json.json


def test_help_lists_every_verb_and_every_verb_explains_itself(covey: Covey, capsys: pytest.CaptureFixture[str]) -> None:
    overview = covey("help", "all").out
    assert {entry.group for entry in VERBS.values()} <= set(GROUPS)
    for verb in VERBS:
        assert f"  {verb} " in overview
        with pytest.raises(SystemExit) as left:
            main([verb, "--help"])
        assert left.value.code == 0
        assert f"usage: covey {verb}" in capsys.readouterr().out


def test_foreign_text_cannot_control_the_terminal() -> None:
    assert printable("a\x1b[31mb\u202ec\td\n") == "a�[31mb�c\td\n"


def test_the_command_line_works_as_a_process(tmp_path: Path) -> None:
    environment = {**os.environ, "COVEY_STORE": f"sqlite:{tmp_path}/covey.db", "COVEY_AGENT": "lead"}

    def covey(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "covey", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=False)

    sent = covey("send", "hello", "--to", "coder", "--register", "--json")
    assert (sent.returncode, sent.stderr) == (DONE, "")
    assert json.loads(covey("inbox", "coder", "--json").stdout)[0]["text"] == "hello"
    assert covey("inbox", "codr").returncode == NOT_FOUND
