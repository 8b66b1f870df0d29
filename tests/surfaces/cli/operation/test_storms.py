"""`covey storms`, `waits`, `pause` and `resume`: stopped exchanges, the graph of waits, and the operator's commands."""

from collections.abc import Callable, Sequence

import pytest

from covey.core.storms.echo import ROUNDS
from covey.surfaces.cli.exits import DONE, NOT_FOUND, REFUSED, UNAVAILABLE, USAGE
from tests.surfaces.commands import Folder, Said
from tests.surfaces.conftest import Covey
from tests.surfaces.terminal import COLUMNS, Terminal, plain

NEVER = "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"
AsOperator = Callable[..., Said]


@pytest.fixture
def operator(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> AsOperator:
    """Run commands with the operator's token."""
    token = covey("token", "create", "--operator").out.strip()

    def run(*words: str) -> Said:
        with monkeypatch.context() as patch:
            patch.setenv("COVEY_TOKEN", token)
            return covey(*words)

    return run


def begin(covey: Covey) -> str:
    said = covey("send", "the parser is done", "--from", "coder", "--to", "critic", "--register", "--json")
    assert said.code == DONE, said.err
    return said.json["id"]


def echo(covey: Covey, first: str) -> tuple[int, Said]:
    """Let critic and coder reply to each other until a reply is refused; return their number and the refusal."""
    last = first
    for n in range(50):
        sender = "coder" if n % 2 else "critic"
        said = covey("reply", last, "Thanks!" if n % 2 else "You're welcome!", "--from", sender, "--json")
        if said.code != DONE:
            return n, said
        last = said.json["id"]
    raise AssertionError("nobody stopped them")


def test_a_space_without_storms_says_so(covey: Covey) -> None:
    assert covey("storms").out == "Nothing was stopped, or is near a limit.\n"
    assert covey("storms", "--all").out == "No tree grew lately.\n"
    assert covey("storms", "--json").json["trees"] == []
    assert covey("waits").out == "Nobody waits for anybody.\n"
    assert covey("waits", "--json").json == []


def exchange(covey: Covey) -> Said:
    """Let coder and critic send messages that reply to nothing until one is refused; return the refusal."""
    for n in range(120):
        names = ("coder", "critic") if n % 2 else ("critic", "coder")
        said = covey("send", f"step {n}", "--from", names[0], "--to", names[1], "--register", "--json")
        if said.code != DONE:
            return said
    raise AssertionError("nobody stopped them")


def test_a_stopped_exchange_is_shown_with_the_command_that_lifts_it(covey: Covey, operator: AsOperator) -> None:
    assert operator("storms", "limits", "--exchange", "26").code == DONE
    refused = exchange(covey)
    assert (refused.code, refused.json["error"]["code"]) == (REFUSED, "exchange-storm")
    (stop,) = covey("storms", "--json").json["exchanges"]
    assert refused.json["error"]["details"]["lift_with"] == stop["lift_with"] == f"covey storms lift {stop['id']}"
    assert (sorted(stop["agents"]), stop["is_task"]) == (["coder", "critic"], False)
    shown = covey("storms").out
    for said in (stop["id"], "exchange of", "coder", "critic", "stopped 0s ago, for 59m more", stop["lift_with"]):
        assert said in shown
    assert "A storm was stopped" in covey("inbox", "operator").out
    assert "1 exchange stopped" in covey("agents").err
    (notes,) = [area["notes"] for area in covey("doctor", "--json").json["areas"] if area["area"] == "storms"]
    assert any("is stopped: `covey storms` shows why" in note for note in notes)
    assert covey("storms", "lift", stop["id"]).code == REFUSED
    assert "goes on: all is counted from now" in operator("storms", "lift", stop["id"]).out
    assert covey("storms", "--json").json["exchanges"] == []
    again = exchange(covey).json["error"]["details"]["stop"]
    assert operator("storms", "lift", again, "--json").json == {"stop": again, "lifted": True}


def test_a_stopped_echo_is_shown_with_the_command_that_lifts_it(covey: Covey, operator: AsOperator) -> None:
    root = begin(covey)
    count, refused = echo(covey, root)
    assert (count, refused.code, refused.json["error"]["code"]) == (2 * ROUNDS, REFUSED, "echo-storm")
    assert refused.json["error"]["details"]["lift_with"] == f"covey storms lift {root}"
    shown = covey("storms").out
    for said in (root, 'coder → critic: "the parser is done"', "echo of coder and critic", "1 refused"):
        assert said in shown
    assert shown.splitlines()[-1] == f"    covey storms lift {root}"
    (tree,) = covey("storms", "--json").json["trees"]
    assert (tree["tree"], tree["counts"]["messages"], tree["echoes"][0]["refused"]) == (root, 2 * ROUNDS + 1, 1)
    assert "stopped" in covey("inbox", "operator").out
    assert covey("storms", "lift", root).code == REFUSED
    said = operator("storms", "lift", "critic:1")
    assert (said.code, said.out) == (DONE, f"The tree of {root} goes on: all is counted from now.\n")
    assert operator("storms", "lift", root, "--json").json == {"tree": root, "lifted": True}
    assert echo(covey, root)[0] == 2 * ROUNDS


def test_limits_are_shown_changed_by_the_operator_and_hold(covey: Covey, operator: AsOperator) -> None:
    assert covey("storms", "limits", "--json").json == {
        "messages": 2000,
        "depth": 500,
        "hours": 24,
        "children": 50,
        "exchange": 250,
        "progress": 200,
        "rounds": 5,
    }
    refused = covey("storms", "limits", "--messages", "2")
    assert (refused.code, "only the operator may" in refused.err) == (REFUSED, True)
    assert "COVEY_TOKEN" in refused.err
    changed = operator("storms", "limits", "--messages", "2", "--hours", "48", "--json")
    others = {"depth": 500, "children": 50, "exchange": 250, "progress": 200, "rounds": 5}
    assert changed.json == {"messages": 2, "hours": 48, **others}
    assert [line.split()[:3] for line in covey("storms", "limits").out.splitlines()[1:3]] == [
        ["messages", "2", "2,000"],
        ["depth", "500", "500"],
    ]
    root = begin(covey)
    assert covey("reply", root, "one", "--from", "critic").code == DONE
    said = covey("reply", root, "two", "--from", "critic")
    assert said.code == REFUSED
    for word in (
        root,
        "3 messages, and the limit is 2",
        "covey storms limits --messages N",
        f"covey storms lift {root}",
    ):
        assert word in said.err
    assert "stopped 0s ago by its messages: 1 refused" in covey("storms").out
    assert operator("storms", "limits", "--messages", "20").code == DONE
    assert covey("reply", root, "two", "--from", "critic").code == DONE


def test_the_rounds_of_negotiations_are_shown_and_changed_by_the_operator(covey: Covey, operator: AsOperator) -> None:
    assert covey("storms", "limits", "--rounds", "2").code == REFUSED
    assert operator("storms", "limits", "--rounds", "2", "--depth", "9").code == DONE
    shown = [line.split()[:3] for line in covey("storms", "limits").out.splitlines()]
    assert ["rounds", "2", "5"] in shown
    assert ["depth", "9", "500"] in shown


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["storms", "lift"], USAGE, "covey storms lift MESSAGE"),
        (["storms", "list", NEVER], USAGE, "it goes with lift"),
        (["storms", "--messages", "3"], USAGE, "it goes with limits"),
        (["storms", "--rounds", "3"], USAGE, "it goes with limits"),
        (["storms", "limits", "--rounds", "101"], USAGE, "use 1 to 100"),
        (["storms", "limits", "--all"], USAGE, "it goes with list"),
        (["storms", "limits", "--depth", "0"], USAGE, "not a number of 1 or more"),
        (["storms", "limits", "--depth", "99999999999"], USAGE, "not a number of 1 or more"),
        (["storms", "lift", "nonsense"], USAGE, "message id"),
        (["storms", "lift", NEVER], NOT_FOUND, NEVER),
        (["pause", "nobody"], NOT_FOUND, "nobody"),
        (["pause", "a b"], USAGE, "agent name"),
        (["pause", "--reason", "a\tb"], USAGE, "reason"),
        (["resume", "nobody"], NOT_FOUND, "nobody"),
        (["waits", "nobody"], NOT_FOUND, "nobody"),
    ],
)
def test_a_wrong_command_is_explained(operator: AsOperator, words: Sequence[str], code: int, said: str) -> None:
    done = operator(*words)
    assert (done.code, said in done.err) == (code, True), done.err


def test_a_pause_of_an_agent_or_the_space_holds_until_it_is_resumed(covey: Covey, operator: AsOperator) -> None:
    begin(covey)
    refused = covey("pause", "critic")
    assert (refused.code, "only the operator may" in refused.err) == (REFUSED, True)
    assert (
        operator("pause", "critic", "--reason", "it repeats itself").out
        == "critic is paused. Mail is kept meanwhile.\n"
    )
    said = covey("reply", "1", "hi", "--from", "critic")
    assert (said.code, "paused by operator (it repeats itself)" in said.err) == (REFUSED, True)
    assert "`covey resume critic`" in said.err
    assert covey("send", "still there?", "--from", "coder", "--to", "critic").code == DONE
    agents = {view["agent"]: view for view in covey("agents", "--json").json}
    assert agents["critic"]["paused"]["reason"] == "it repeats itself"
    assert agents["coder"]["paused"] is None
    assert "paused by operator: it repeats itself" in covey("agents").out
    assert operator("pause", "--json").json["agent"] is None
    assert covey("send", "hi", "--from", "coder", "--to", "critic", "--json").json["error"]["details"]["is_space"]
    assert operator("send", "hold on", "--to", "critic").code == DONE
    resumed = operator("resume")
    assert (resumed.out, resumed.err) == ("The space goes on.\n", "Still paused: critic.\n")
    assert operator("resume", "critic", "--json").json == {"agent": "critic", "changed": True}
    assert operator("resume", "critic").out == "critic was not paused: nothing was changed.\n"
    assert covey("reply", "1", "hi", "--from", "critic").code == DONE


def test_agents_and_doctor_report_pauses_and_stops(covey: Covey, operator: AsOperator) -> None:
    root = begin(covey)
    assert covey("agents").err == ""
    assert covey("doctor", "--json").json["areas"][-3]["notes"] == []
    echo(covey, root)
    assert operator("pause", "critic", "--reason", "it repeats itself").code == DONE
    assert operator("pause").code == DONE
    told = covey("agents").err.splitlines()
    assert told == [
        "The space is paused by operator. `covey resume` lets it go on.",
        "1 exchange stopped: `covey storms` shows why.",
    ]
    (notes,) = [area["notes"] for area in covey("doctor", "--json").json["areas"] if area["area"] == "storms"]
    assert notes == [
        "critic is paused by operator (it repeats itself): `covey resume critic` lets it go on",
        "the space is paused by operator: `covey resume` lets it go on",
        f"the tree of {root} is stopped: `covey storms` shows why",
    ]
    seen = covey("doctor")
    assert (seen.code, "Healthy." in seen.out) == (DONE, True)
    assert "covey resume critic" in seen.out
    assert root in seen.out


def test_with_an_agents_token_agents_reports_no_stops_of_other_agents(
    covey: Covey, operator: AsOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    echo(covey, begin(covey))
    assert operator("pause").code == DONE
    monkeypatch.setenv("COVEY_TOKEN", covey("token", "create", "coder").out.strip())
    said = covey("agents")
    assert (said.code, said.err, "paused by operator" in said.out) == (DONE, "", True)


def test_waits_shows_who_waits_for_whom_and_marks_circles(covey: Covey) -> None:
    begin(covey)
    for sender, to in (("coder", "critic"), ("critic", "coder"), ("coder", "lead")):
        words = ("--from", sender, "--to", to, "--request", "--register")
        assert covey("send", "which one?", *words).code == DONE
    shown = covey("waits").out.splitlines()
    assert shown[0].split() == ["who", "needs", "since", "waits", "circle", "what"]
    assert [line.split()[:5] for line in shown[1:3]] == [
        ["coder", "critic", "0s", "no", "yes"],
        ["critic", "coder", "0s", "no", "yes"],
    ]
    edges = covey("waits", "--json").json
    assert [edge["circle"] for edge in edges] == [True, True, False]
    assert [edge["awaited"] for edge in covey("waits", "lead", "--json").json] == ["lead"]
    assert covey("waits", "--blocked").out == "Nobody waits for anybody.\n"


def test_an_ask_that_would_close_a_circle_is_refused_between_processes(folder: Folder) -> None:
    for name in ("alice", "bob"):
        assert folder.covey("send", "hi", "--from", name, "--to", "bob", "--register").code == DONE
    with folder.start("ask", "which?", "--from", "alice", "--to", "bob", "--timeout", "60s") as asking:
        while not (edges := folder.covey("waits", "--blocked", "--json").json):
            assert asking.process.poll() is None
        assert [(edge["waiter"], edge["awaited"]) for edge in edges] == [("alice", "bob")]
        refused = folder.covey("ask", "and you?", "--from", "bob", "--to", "alice", "--timeout", "60s")
        assert (refused.code, "bob → alice → bob" in refused.err) == (REFUSED, True)
        delegated = folder.covey("delegate", "do it", "--from", "bob", "--to", "alice", "--wait", "60s", "--json")
        assert delegated.json["error"]["code"] == "wait-circle"
        back = ("--reply-to", edges[0]["ticket"].partition("@")[0])
        asked = folder.covey("ask", "which ones?", "--from", "bob", "--to", "alice", "--timeout", "1s", *back)
        assert asked.code == UNAVAILABLE
        asking.process.send_signal(2)
        asking.end()
    assert folder.covey("waits", "--blocked", "--json").json == []


def test_every_verb_works_as_a_process(folder: Folder) -> None:
    token = folder.covey("token", "create", "--operator").out.strip()
    assert folder.covey("send", "hi", "--from", "coder", "--to", "critic", "--register").code == DONE
    assert folder.covey("pause", "critic", COVEY_TOKEN=token).code == DONE
    assert folder.covey("send", "hi", "--from", "critic", "--to", "coder").code == REFUSED
    assert folder.covey("resume", "critic", "--json", COVEY_TOKEN=token).json["changed"]
    assert folder.covey("storms", "--json").json["trees"] == []
    assert folder.covey("waits").code == DONE


@pytest.mark.parametrize("verb", ["storms", "waits", "agents"])
def test_output_fits_the_terminal(folder: Folder, verb: str) -> None:
    token = folder.covey("token", "create", "--operator").out.strip()
    long = "a question that is long enough to be cut somewhere, \x1b[2J because the terminal is narrow 🎉"
    request = ("--from", "coder", "--to", "critic", "--request", "--register", "--json")
    root = folder.covey("send", long, *request).json["id"]
    assert folder.covey("storms", "limits", "--messages", "2", COVEY_TOKEN=token).code == DONE
    assert folder.covey("send", "one", "--from", "critic", "--to", "coder", "--reply-to", root).code == DONE
    assert folder.covey("send", "two", "--from", "critic", "--to", "coder", "--reply-to", root).code == REFUSED
    assert folder.covey("pause", "critic", "--reason", long.replace("\x1b", ""), COVEY_TOKEN=token).code == DONE
    with Terminal([verb], folder.path, folder.environment) as terminal:
        terminal.ends_with(DONE)
        lines = plain(terminal.shown).splitlines()
    assert lines
    assert max(map(len, lines)) <= COLUMNS
    assert "\x1b[2J" not in terminal.shown
