"""covey inbox, owed and tasks over all agents; waiting for mail; tasks in the inbox; capped texts."""

import json
from collections.abc import Sequence

import pytest

from covey.surfaces.cli.exits import DONE, UNAVAILABLE, USAGE
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey
from tests.surfaces.terminal import Terminal, plain

LONG = "start " + "word " * 60 + "end"


def send(covey: Covey, text: str, sender: str, to: str, *words: str) -> None:
    assert covey("send", text, "--from", sender, "--to", to, "--register", *words).code == DONE


def numbers(out: str) -> Sequence[str]:
    return [line.split()[0] for line in out.splitlines()[1:]]


def test_without_a_name_the_inboxes_of_all_agents_are_shown(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    assert covey("inbox").out == "Nothing waits for any agent.\n"
    send(covey, "one", "lead", "critic")
    send(covey, "two", "lead", "coder")
    send(covey, "three", "lead", "coder")
    assert numbers(covey("inbox").out) == ["coder:1", "coder:2", "critic:1"]
    items = covey("inbox", "--json").json
    assert [(item["agent"], item["number"], item["text"]) for item in items] == [
        ("coder", 1, "two"),
        ("coder", 2, "three"),
        ("critic", 1, "one"),
    ]
    limited = covey("inbox", "--limit", "1")
    assert numbers(limited.out) == ["coder:1", "critic:1"]
    assert limited.err == "The first 1 of each agent; --limit shows more.\n"
    assert covey("handle", "coder:1", "--agent", "coder").code == DONE
    monkeypatch.setenv("COVEY_AGENT", "coder")
    assert numbers(covey("inbox").out) == ["2"]
    assert numbers(covey("inbox", "--all-agents").out) == ["coder:2", "critic:1"]


def test_without_a_name_the_answers_that_all_agents_owe_are_listed(
    covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert covey("owed").out == "Nothing is owed.\n"
    send(covey, "why?", "lead", "coder", "--request", "--scope", "T-1")
    send(covey, "how?", "coder", "critic", "--request")
    said = covey("owed").out.splitlines()
    assert said[0].split() == ["debtor", "asker", "age", "state", "approval", "scope", "subject", "message", "text"]
    assert [(line.split()[0], line.split()[-1]) for line in said[1:]] == [("coder", "why?"), ("critic", "how?")]
    debts = covey("owed", "--json").json
    assert [(debt["debtor"], debt["asker"], debt["text"]) for debt in debts] == [
        ("coder", "lead", "why?"),
        ("critic", "coder", "how?"),
    ]
    assert [debt["debtor"] for debt in covey("owed", "--to", "--json").json] == ["coder", "critic"]
    assert [debt["debtor"] for debt in covey("owed", "--to", "--scope", "T-1", "--json").json] == ["coder"]
    monkeypatch.setenv("COVEY_AGENT", "coder")
    assert [debt["debtor"] for debt in covey("owed", "--json").json] == ["coder"]
    assert [debt["debtor"] for debt in covey("owed", "--all-agents", "--json").json] == ["coder", "critic"]


def test_the_tasks_of_all_agents_are_listed_or_of_one(covey: Covey) -> None:
    for agent in ("coder", "critic"):
        assert covey("delegate", "build", "--from", "lead", "--to", agent, "--register", "--no-wait").code == DONE
    assert [task["agent"] for task in covey("tasks", "--json").json] == ["coder", "critic"]
    assert [task["agent"] for task in covey("tasks", "critic", "--json").json] == ["critic"]
    assert [task["agent"] for task in covey("tasks", "--agent", "coder", "--json").json] == ["coder"]


def test_a_task_that_is_worked_on_has_the_state_of_the_task(covey: Covey) -> None:
    for text in ("build", "test"):
        assert covey("delegate", text, "--from", "lead", "--to", "coder", "--register", "--no-wait").code == DONE
    assert covey("accept", "coder:1", "--as", "coder").code == DONE
    assert covey("update", "coder:1", "--as", "coder", "--start").code == DONE
    lines = covey("inbox", "coder").out.splitlines()
    assert [line.split()[5] for line in lines[1:]] == ["working", "queued"]
    items = covey("inbox", "coder", "--json").json
    assert [(item["state"], item["task_state"]) for item in items] == [("queued", "working"), ("queued", None)]


def test_waiting_ends_at_once_if_there_is_mail(covey: Covey) -> None:
    send(covey, "hello", "lead", "coder")
    said = covey("inbox", "coder", "--wait")
    assert (said.code, numbers(said.out)) == (DONE, ["1"])
    assert [item["text"] for item in covey("inbox", "--wait", "10", "--json").json] == ["hello"]


def test_waiting_ends_when_the_time_is_over(covey: Covey) -> None:
    send(covey, "hello", "lead", "coder")
    said = covey("inbox", "lead", "--wait", "0")
    assert (said.code, said.out) == (UNAVAILABLE, "No mail came for lead in time.\n")
    as_json = covey("inbox", "lead", "--wait", "1s", "--json")
    assert (as_json.code, as_json.json) == (UNAVAILABLE, [])
    assert covey("inbox", "coder", "--kind", "request", "--wait", "0").code == UNAVAILABLE


@pytest.mark.parametrize("agent", [("coder",), ()])
def test_waiting_is_woken_by_mail(folder: Folder, agent: Sequence[str]) -> None:
    assert folder.covey("send", "hello", "--from", "lead", "--to", "coder", "--register").code == DONE
    assert folder.covey("handle", "coder:1", "--agent", "coder").code == DONE
    with folder.start_woken_only("inbox", *agent, "--wait", "--json") as waiting:
        assert folder.covey("send", "again", "--from", "lead", "--to", "coder").code == DONE
        assert [item["text"] for item in json.loads(waiting.line())] == ["again"]
        assert waiting.end().code == DONE


def test_the_time_of_a_wait_is_a_number_or_a_span(covey: Covey) -> None:
    said = covey("inbox", "--wait", "coder")
    assert said.code == USAGE
    assert "the name of an agent stands before --wait" in said.err


def looks(folder: Folder, *words: str) -> str:
    with Terminal(words, folder.path, {**folder.environment, "NO_COLOR": "1"}) as terminal:
        terminal.ends_with(DONE)
    terminal.check_fits()
    return plain(terminal.shown)


@pytest.mark.parametrize(
    "words", [("inbox", "coder"), ("inbox",), ("owed", "coder"), ("owed",), ("thread", "coder:1")], ids=" ".join
)
@pytest.mark.parametrize("columns", ["80", "50"])
def test_a_person_sees_two_lines_of_a_text_or_all_of_it(folder: Folder, words: Sequence[str], columns: str) -> None:
    folder.environment["COLUMNS"] = columns
    assert folder.covey("send", LONG, "--from", "lead", "--to", "coder", "--register", "--request").code == DONE
    short = looks(folder, *words)
    assert "start" in short
    assert sum("word" in line for line in short.splitlines()) == 2
    assert "…" in short
    assert "end" not in short
    full = looks(folder, *words, "--full")
    assert full.count("word") == 60
    assert "end" in full
