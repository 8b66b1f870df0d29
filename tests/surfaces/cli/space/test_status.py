"""covey status: the whole space on one screen, for people and programs, once and live."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import covey as api
from covey.core.directory.routing import Pause
from covey.core.ledger.waits import Edge
from covey.core.names import AgentName, ticket_id
from covey.core.storms.budget import Limit
from covey.core.storms.flow import Party, StormStop
from covey.services.care.status import AgentStatus, SpaceStatus
from covey.services.children.runs import RunView
from covey.services.directory.directory import view_of
from covey.surfaces.cli.exits import DONE, USAGE
from covey.surfaces.cli.space.status_screen import SpaceScreen, screen_lines
from covey.surfaces.cli.terminal.text import cells
from covey.testing.records import START, a_message_id, a_run, a_session, a_task, a_ticket, a_tree, an_agent, at
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey
from tests.surfaces.terminal import CTRL_C, Terminal

pytestmark = pytest.mark.requirement("first.status")

LEAD, CODER = AgentName("lead"), AgentName("coder")
LONG = "the parser fails on every Tuesday and on some other days, and nobody knows the reason for that"


def fill(folder: Path) -> None:
    """Let a lead write to a coder, ask it and delegate to it; the coder works."""

    async def run() -> None:
        async with api.open(f"sqlite:{folder}/.covey/covey.db") as space:
            lead, coder = await space.join("lead"), await space.join("coder")
            await lead.send("coder", "lunch?")
            await lead.send("coder", LONG, kind="request", scope="T-1")
            await lead.delegate("coder", "write the parser")
            await lead.delegate("coder", "write the tests")
            await coder.set_status("reading the parser")

    asyncio.run(run())


def test_an_empty_space_says_how_to_begin(covey: Covey, tmp_path: Path) -> None:
    assert covey("status").out.splitlines() == [
        f"sqlite:{tmp_path}/.covey/covey.db",
        "0 agents, 0 live · 0 unseen · 0 owed · 0 tasks",
        "",
        "No agent is known here. `covey join NAME` adds one.",
    ]


def test_a_space_with_nothing_to_do_says_so(covey: Covey) -> None:
    assert covey("join", "coder", "--lease", "1h").code == DONE
    *_, agent, empty, last = covey("status").out.splitlines()
    assert agent.split() == ["coder", "idle", "–", "–"]
    assert (empty, last) == ("", "No answer is owed, no task is open, and no agent waits for another.")


def test_the_screen_has_agents_questions_and_tasks(covey: Covey, tmp_path: Path) -> None:
    fill(tmp_path)
    assert covey("accept", "coder:3", "--as", "coder").code == DONE
    assert covey("update", "coder:3", "--as", "coder", "--start").code == DONE
    lines = covey("status").out.splitlines()
    assert lines[1] == "2 agents, 0 live · 6 unseen · 1 owed · 2 tasks (1 working, 1 pending)"
    words = [line.split() for line in lines[2:] if line]
    assert words[0] == ["agent", "presence", "unseen", "owes", "doing"]
    assert (words[1][:3], words[1][4:]) == (["coder", "offline", "4"], ["1", "reading", "the", "parser"])
    assert words[2][:3] == ["lead", "offline", "2"]
    assert words[3] == ["owed", "by", "to", "age", "due", "question"]
    assert (words[4][:2], words[4][3:6]) == (["coder", "lead"], ["–", "T-1:", "the"])
    assert words[5] == ["task", "state", "age", "from", "text"]
    assert [(row[0], row[1], row[-1]) for row in words[6:]] == [
        ("coder:3", "working", "parser"),
        ("coder:4", "pending", "tests"),
    ]


def test_an_agent_without_a_status_is_shown_with_its_current_task(covey: Covey) -> None:
    assert (
        covey("delegate", "sort the files", "--from", "lead", "--to", "coder", "--register", "--no-wait").code == DONE
    )
    assert covey("accept", "coder:1", "--as", "coder").code == DONE
    document = covey("status", "--json").json
    assert {a["agent"]: a["doing"] for a in document["agents"]} == {"coder": "sort the files", "lead": None}


def test_programs_get_one_document(covey: Covey, tmp_path: Path) -> None:
    fill(tmp_path)
    document = covey("status", "--json").json
    assert document["totals"] == {
        "agents": 2,
        "live": 0,
        "unseen": 4,
        "owed": 1,
        "overdue": 0,
        "tasks": {"pending": 2},
        "children": 0,
        "waits": 0,
        "stopped": 0,
    }
    coder = document["agents"][0]
    assert (coder["agent"], coder["unseen"], coder["owes"], coder["tasks"]) == ("coder", 4, 1, {"pending": 2})
    assert coder["oldest_unseen_at"] is not None
    assert [(debt["debtor"], debt["asker"], debt["overdue"]) for debt in document["owed"]] == [("coder", "lead", False)]
    assert [(task["name"], task["agent"], task["text"]) for task in document["tasks"]] == [
        ("coder:3", "coder", "write the parser"),
        ("coder:4", "coder", "write the tests"),
    ]
    assert (document["paused"], document["children"], document["waits"], document["stopped"]) == (None, [], [], [])


def a_screen() -> SpaceScreen:
    """A screen with every section."""
    overdue = a_ticket(1, asker="lead", debtor="coder")._replace(due_at=at(60))
    later = a_ticket(2, asker="lead", debtor="coder")._replace(due_at=at(7200))
    coder = view_of(an_agent("coder"), [a_session(1, agent="coder")])
    agents = [
        AgentStatus(coder, 2, START, [later, overdue], 1, (), None),
        AgentStatus(view_of(an_agent("critic"), ()), None, None, (), 0, (), None),
    ]
    stop = StormStop(a_message_id(7), (LEAD, CODER), frozenset({Party("lead"), Party("coder")}), 250, START)
    status = SpaceStatus(
        at(600),
        agents,
        [a_task(3, agent="coder")],
        [RunView(a_run(4, agent="fixer", parent_agent="lead"))],
        [Edge(LEAD, CODER, ticket_id(a_message_id(1), CODER), START, at(660))],
        [stop, a_tree(5)._replace(stopped=Limit.MESSAGES, stopped_at=START)],
        Pause(LEAD, START, "maintenance"),
    )
    texts = {a_message_id(1): LONG, a_message_id(2): "Later?", a_message_id(3): "解析器" * 40}
    return SpaceScreen("sqlite:/space/covey.db", status, texts, {a_message_id(3): "coder:9"})


def shown(screen: SpaceScreen, width: int, height: int | None = None) -> Sequence[str]:
    return ["".join(text for text, _ in line) for line in screen_lines(screen, at(600), (width, height), {})]


def test_children_waits_stopped_exchanges_and_the_pause_are_on_the_screen() -> None:
    lines = shown(a_screen(), 200)
    assert lines[1] == (
        "2 agents, 1 live · 2 unseen · 2 owed, 1 overdue · 1 task (1 pending) · 1 child · 1 wait · 2 stopped"
    )
    assert lines[2] == "The space is paused by lead: maintenance. `covey resume` ends the pause."
    text = "\n".join(" ".join(line.split()) for line in lines)
    assert "coder idle 2 (10m) 2 (1 late)\ncritic offline ? –\n" in text
    assert f"coder lead 10m 9m ago {LONG}\ncoder lead 10m in 1h Later?\n" in text, "overdue questions come first"
    assert "coder:9 pending" in text
    assert "fixer running 10m lead" in text
    assert f"lead coder 10m 1m {LONG}" in text
    assert "10m exchange of lead and coder" in text
    assert "10m tree of 6 messages, stopped by its limit of messages" in text


@pytest.mark.parametrize("width", [50, 80])
@pytest.mark.parametrize("height", [1, 5, 12, 24, None])
def test_the_screen_fits_whatever_the_terminal_is(width: int, height: int | None) -> None:
    lines = shown(a_screen(), width, height)
    assert max(map(cells, lines)) <= width
    assert height is None or len(lines) <= height


def test_a_low_terminal_shows_the_first_sections_and_counts_what_it_leaves_out() -> None:
    lines = shown(a_screen(), 80, 11)
    assert [line.split()[:2] for line in lines[4:]] == [
        [],
        ["agent", "presence"],
        ["coder", "idle"],
        ["critic", "offline"],
        [],
        ["owed", "by"],
        ["…", "2"],
    ]
    assert lines[-1] == "… 2 more: covey owed"


def test_what_does_not_fit_is_counted_with_the_command_that_shows_it() -> None:
    screen = a_screen()
    tasks = [a_task(n, agent="coder") for n in range(10, 40)]
    many = screen._replace(status=screen.status._replace(tasks=tasks))
    assert "… 18 more: covey tasks" in shown(many, 80)


def test_a_limit_of_time_is_for_watching(covey: Covey) -> None:
    said = covey("status", "--for", "1s")
    assert (said.code, said.err) == (USAGE, "covey: --for '1s' is not valid: it is for --watch.\n")


def test_a_watching_program_gets_a_line_for_each_change_and_is_woken_for_it(folder: Folder) -> None:
    with folder.start_woken_only("status", "--watch", "--json") as watching:
        assert json.loads(watching.line())["totals"]["unseen"] == 0
        assert folder.covey("send", "hello", "--from", "lead", "--to", "coder", "--register").code == DONE
        while (document := json.loads(watching.line()))["totals"]["unseen"] == 0:
            assert document["at"]
        assert [a["agent"] for a in document["agents"]] == ["coder", "lead"]


def test_a_wait_is_shown_while_it_lasts(folder: Folder) -> None:
    with folder.start_woken_only("status", "--watch", "--json") as watching:
        with folder.start("ask", "why?", "--from", "lead", "--to", "coder", "--register", "--timeout", "1h"):
            while not (document := json.loads(watching.line()))["waits"]:
                pass
        wait = document["waits"][0]
        assert (wait["waiter"], wait["awaited"], wait["waits"]) == ("lead", "coder", True)


def test_watching_ends_after_its_time(covey: Covey) -> None:
    said = covey("status", "--watch", "--for", "0s")
    assert said.code == DONE
    assert said.out.splitlines()[1] == "0 agents, 0 live · 0 unseen · 0 owed · 0 tasks"


def test_a_person_watches_the_screen_until_a_key_ends_it(folder: Folder) -> None:
    with Terminal(["status", "--watch"], folder.path, folder.environment, woken_only=True) as screen:
        screen.until("No agent is known here.")
        assert folder.covey("send", "hello", "--from", "lead", "--to", "coder", "--register").code == DONE
        screen.until("2 agents, 0 live · 1 unseen")
        screen.press(b"q")
        screen.ends_with(DONE)
    assert screen.shown.endswith("\x1b[?25h\x1b[?1049l"), "the terminal is as it was"


def test_a_dumb_terminal_gets_the_status_again_after_each_change(folder: Folder) -> None:
    environment = {**folder.environment, "TERM": "dumb"}
    with Terminal(["status", "--watch"], folder.path, environment, woken_only=True) as screen:
        screen.until("No agent is known here.")
        assert folder.covey("send", "hello", "--from", "lead", "--to", "coder", "--register").code == DONE
        screen.until("1 unseen")
        screen.press(CTRL_C)
        screen.ends_with(130)
    assert "\x1b" not in screen.shown


def test_the_holder_of_an_agents_token_sees_its_own_mail_alone(
    covey: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path)
    token = covey("token", "create", "lead", "--json").json["token"]
    monkeypatch.setenv("COVEY_TOKEN", token)
    seen = {a["agent"]: a["unseen"] for a in covey("status", "--json").json["agents"]}
    assert seen == {"lead": 0, "coder": None}
