"""Children on the command line: a start, its result, wrong commands and the tree of sessions."""

import sys
from pathlib import Path

import pytest

from covey.surfaces.cli.exits import DONE, FAILED, NOT_FOUND, REFUSED, TIMED_OUT, USAGE
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey

HELLO = "sh -c 'echo hello from {label}'"


def test_a_child_is_started_and_its_result_is_written(covey: Covey) -> None:
    said = covey("spawn", "coder", "Say hello.", "--from", "lead", "--run", HELLO, "--label", "greeter")
    assert (said.code, said.out, said.err) == (DONE, "hello from greeter\n", "")
    assert covey("inbox", "lead", "--json").json == []


def test_with_json_the_whole_result_of_a_child_is_written(covey: Covey) -> None:
    program = f'{sys.executable} -c \'print("{{\\"result\\": \\"done\\", \\"data\\": [1]}}")\''
    said = covey("spawn", "Do it.", "--from", "lead", "--run", program, "--json")
    assert said.code == DONE
    assert (said.json["status"], said.json["text"], said.json["data"]) == ("completed", "done", [1])
    run = said.json["run"]
    assert (run["agent"], run["parent_agent"], run["state"], run["stage"]) == ("lead", "lead", "completed", "return")
    assert run["key"].startswith("agent:lead:subagent:")


@pytest.mark.parametrize(
    ("program", "options", "code", "says"),
    [
        ("sh -c 'echo so far; exit 3'", (), FAILED, "has failed: sh exited with code 3"),
        ("sh -c 'echo so far; exec sleep 60'", ("--time-limit", "1s"), TIMED_OUT, "took too long"),
    ],
)
def test_the_way_a_child_ended_is_reported_and_decides_the_exit_code(
    covey: Covey, program: str, options: tuple[str, ...], code: int, says: str
) -> None:
    said = covey("spawn", "Do it.", "--from", "lead", "--run", program, *options)
    assert said.code == code
    assert "so far" in said.out
    assert says in said.err


def test_a_child_gets_its_task_from_stdin_and_snapshots_of_files(folder: Folder) -> None:
    (folder.path / "notes.txt").write_text("as it was")
    program = 'sh -c "echo {task}; cat {folder}/attachments/notes.txt"'
    command = f"echo Look. | covey spawn - --from lead --file notes.txt --run '{program}'"
    said = folder.run(["sh", "-c", command])
    assert (said.code, said.out) == (DONE, "Look.\nas it was\n"), said.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["spawn", "codr", "x", "--from", "lead"], NOT_FOUND, "did you mean coder?"),
        (["spawn", "nobody", "x", "--from", "lead"], NOT_FOUND, "with --run COMMAND a new one is made"),
        (["spawn", "coder", "x", "--from", "lead"], USAGE, "the card of coder has none"),
        (["spawn", "coder", "--from", "lead"], USAGE, "covey spawn coder TASK"),
        (["spawn", "coder", "x"], USAGE, "name the acting agent"),
        (["spawn", "coder", "x", "--from", "lead", "--run", "no-such-program"], NOT_FOUND, "no program"),
        (["spawn", "coder", "x", "--from", "lead", "--run", "'"], USAGE, "quote it as in a shell"),
        (["spawn", "coder", "x", "--from", "lead", "--mode", "session"], USAGE, "needs thread"),
        (["spawn", "coder", "x", "--from", "lead", "--thread", "a"], USAGE, "CHANNEL:CONVERSATION"),
        (["spawn", "coder", "x", "--from", "lead", "--time-limit", "0s"], USAGE, "more than 0"),
        (["spawn", "coder", "x", "--from", "lead", "--store", "memory:"], USAGE, "use sqlite:PATH"),
        (["spawn", "coder", "x", "--from", "lead", "--run", "true", "--label", "a b"], USAGE, "label"),
        (["stop", "nobody"], NOT_FOUND, "covey sessions --all"),
        (["stop", "agent:coder:main"], NOT_FOUND, "covey sessions --all"),
        (["say", "nobody", "hi", "--from", "lead"], NOT_FOUND, "covey send AGENT TEXT"),
        (["say", "agent:coder:main", "hi", "--from", "lead"], NOT_FOUND, "covey sessions"),
        (["sessions", "--agent", "nobody"], NOT_FOUND, "covey agents"),
        (["sessions", "--for", "1s"], USAGE, "it is for --watch"),
    ],
)
def test_a_wrong_command_says_what_to_do(covey: Covey, words: list[str], code: int, says: str) -> None:
    assert covey("send", "hi", "--from", "lead", "--to", "coder", "--register").code == DONE
    said = covey(*words)
    assert (said.code, said.out, said.err.count("\n")) == (code, "", 1), said
    assert says in said.err
    as_json = covey(*words, "--json")
    assert as_json.code == code
    assert "error" in as_json.json


def test_the_command_on_a_card_starts_a_child(covey: Covey) -> None:
    assert covey("join", "coder", "--command", "echo {task}", "--lease", "1h", "--json").code == DONE
    assert covey("spawn", "coder", "as its card says", "--from", "lead").out == "as its card says\n"


def test_an_agents_token_can_not_choose_the_program_of_another(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    assert covey("send", "hi", "--from", "coder", "--to", "lead", "--register").code == DONE
    token = covey("token", "create", "lead", "--json").json["token"]
    monkeypatch.setenv("COVEY_TOKEN", token)
    said = covey("spawn", "coder", "x", "--run", "true", "--json")
    assert (said.code, said.json["error"]["code"]) == (REFUSED, "beyond-token")
    assert covey("spawn", "x", "--run", "echo mine").out == "mine\n"


def test_with_an_agent_only_the_trees_with_a_session_of_that_agent_are_shown(covey: Covey) -> None:
    for name in ("coder", "critic"):
        assert covey("join", name, "--lease", "1h", "--json").code == DONE
    assert [node["agent"] for node in covey("sessions", "--json").json] == ["coder", "critic"]
    assert [node["agent"] for node in covey("sessions", "--agent", "critic", "--json").json] == ["critic"]
    assert covey("stop", "agent:critic:main").code == USAGE
    assert covey("say", "agent:critic:main", "hi", "--from", "coder").code == DONE


def test_a_relative_path_with_a_space_is_resolved_in_the_folder_of_the_caller(covey: Covey, tmp_path: Path) -> None:
    script = tmp_path / "fix it.sh"
    script.write_text("#!/bin/sh\npwd\n")
    script.chmod(0o700)
    said = covey("spawn", "coder", "x", "--from", "lead", "--run", "'./fix it.sh'")
    assert (said.code, "/runs/" in said.out) == (DONE, True), said.err
