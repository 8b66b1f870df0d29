"""`covey join` and `covey leave`: sessions of a shell."""

import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from covey.core.coroutine import finish
from covey.core.directory.session import Session
from covey.core.names import SessionId
from covey.engines import connect_inline, locate
from covey.ports.store import Transaction
from covey.surfaces.cli.exits import DONE, NOT_FOUND, REFUSED, USAGE
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey

SHELLS = [shell for shell in ("sh", "bash", "zsh") if shutil.which(shell)]
UNKNOWN = "3f2c9a4e-5d0b-4c1e-9a53-0f6b7c8d9e10"


def join(covey: Covey, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """Let this process act as a new session; return the id of the session."""
    said = covey("join", *words, "--json").json
    for name, value in said["environment"].items():
        monkeypatch.setenv(name, value)
    return said["session"]


def seen(covey: Covey, session: str, ago: timedelta | None = None) -> Session:
    """Return a session. With `ago`, first move its last sign of life that far into the past."""
    ports = connect_inline(locate(), [])

    async def operation(tx: Transaction) -> Session:
        found = await tx.sessions.get(SessionId(session))
        assert found is not None
        if ago is not None:
            found = found._replace(seen_at=found.seen_at - ago)
            await tx.sessions.put(found)
        return found

    try:
        return finish(ports.store.commit(operation))
    finally:
        finish(ports.close())


def test_the_exports_of_join_prove_the_session_and_it_gets_the_parked_mail(
    covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert covey("send", "are you there?", "--from", "lead", "--to", "coder", "--register").code == DONE
    said = covey("join", "coder")
    assert said.code == DONE
    assert "Joined as agent:coder:main." in said.err
    assert "waiting for it: 1." in said.err
    exports = dict(line.removeprefix("export ").split("=", 1) for line in said.out.splitlines())
    assert list(exports) == ["COVEY_SESSION", "COVEY_AGENT", "COVEY_STORE"]
    for name, value in exports.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir("/")
    assert covey("send", "yes", "--to", "lead").code == DONE
    (item,) = covey("inbox", "lead", "--json").json
    assert (item["from"], item["grade"]) == ("coder", "session")
    assert item["from_session"] == exports["COVEY_SESSION"].partition(":")[0]
    assert covey("inbox", "--json").json[0]["text"] == "are you there?"


def test_without_a_name_a_new_agent_joins_and_a_card_keeps_fields_that_are_not_given(covey: Covey) -> None:
    first = covey("join", "--json", "--label", "night-shift").json
    assert (first["agent"], first["key"], first["label"]) == ("agentA", "agent:agentA:main", "night-shift")
    assert (first["kind"], first["pid"], first["adopted"]) == ("client", os.getppid(), 0)
    card = ("--description", "reads diffs", "--capability", "review", "--capability", "python", "--allow-from", "lead")
    assert covey("join", "critic", "--export", *card).code == DONE
    assert covey("join", "critic", "--export", "--workspace", "/src").code == DONE
    view = next(agent for agent in covey("agents", "--json").json if agent["agent"] == "critic")
    assert (view["description"], view["capabilities"]) == ("reads diffs", ["review", "python"])
    assert (view["allow_from"], view["workspace"], len(view["sessions"])) == (["lead"], "/src", 2)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["join", "../x"], USAGE, "A-Z a-z 0-9"),
        (["join", "operator"], REFUSED, "reserved"),
        (["join", "coder", "--pid", "0"], USAGE, "or use --lease"),
        (["join", "coder", "--pid", "2147483646"], REFUSED, "no client process"),
        (["join", "coder", "--pid", "1", "--lease", "1h"], USAGE, "not allowed with"),
        (["join", "coder", "--lease", "0s"], USAGE, "at least 1s"),
        (["join", "coder", "--lease", "9999999999d"], USAGE, "use at most"),
        (["join", "coder", "--label", ".x"], USAGE, "no leading dot"),
        (["join", "coder", "--allow-from", "a b"], USAGE, "A-Z a-z 0-9"),
        (["leave"], USAGE, "COVEY_SESSION"),
        (["leave", "x", "--agent", "coder"], USAGE, "use a uuid"),
        (["leave", UNKNOWN], USAGE, "name the acting agent"),
        (["leave", UNKNOWN, "--agent", "coder"], NOT_FOUND, "no live session"),
    ],
)
def test_a_wrong_join_or_leave_changes_nothing_and_says_why(
    covey: Covey, words: list[str], code: int, says: str
) -> None:
    before = covey("log", "--json").out
    said = covey(*words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    as_json = covey(*words, "--json")
    assert (as_json.code, list(as_json.json)) == (code, ["error"])
    assert covey("log", "--json").out == before


def test_leave_reports_the_parked_mail_and_leaving_twice_does_nothing(
    covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    join(covey, monkeypatch, "coder")
    assert covey("send", "one", "--from", "lead", "--to", "coder", "--agent", "lead").code == DONE
    assert covey("send", "two", "--from", "lead", "--to", "coder", "--agent", "lead").code == DONE
    said = covey("leave")
    assert (said.code, said.out) == (
        DONE,
        "coder left agent:coder:main. 2 unhandled parked for its next session.\n",
    )
    assert "unset COVEY_SESSION" in said.err
    again = covey("leave", "--json")
    assert (again.code, again.json["ended"], again.json["parked"]) == (DONE, False, 0)
    assert covey("send", "hi", "--to", "lead").code == REFUSED
    assert covey("leave", "--export").out == "unset COVEY_SESSION COVEY_AGENT COVEY_STORE\n"
    assert covey("join", "coder", "--json").json["adopted"] == 2


def test_an_agent_can_end_only_its_own_sessions_by_id(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    other = covey("join", "coder", "--json").json["session"]
    assert covey("send", "hi", "--from", "lead", "--to", "coder", "--register").code == DONE
    join(covey, monkeypatch, "coder")
    refused = covey("leave", other, "--agent", "lead")
    assert (refused.code, refused.out) == (REFUSED, "")
    assert f"session {other} is coder's, not lead's" in refused.err
    said = covey("leave", other, "--json")
    assert (said.code, said.json) == (DONE, {"session": other, "ended": True, "parked": 0, "passed_on": 1})
    (item,) = covey("inbox", "coder", "--json").json
    assert item["text"] == "hi"
    assert covey("leave", other, "--json").json["ended"] is False


def test_a_command_that_acts_as_a_session_renews_its_last_sign_of_life(
    covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = join(covey, monkeypatch, "coder", "--lease", "1h")
    fresh = seen(covey, session).seen_at
    assert covey("send", "hi", "--to", "coder").code == DONE
    assert seen(covey, session).seen_at == fresh, "it was seen a moment ago"
    old = seen(covey, session, timedelta(minutes=30)).seen_at
    assert covey("inbox").code == DONE
    assert seen(covey, session).seen_at == old, "looking changes nothing"
    assert covey("send", "hi", "--to", "coder").code == DONE
    assert seen(covey, session).seen_at > old


def test_a_session_without_a_process_is_offline_when_its_lease_runs_out(
    covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = join(covey, monkeypatch, "coder", "--lease", "1h")
    (view,) = covey("agents", "--json").json
    assert view["presence"] == "idle"
    seen(covey, session, timedelta(hours=2))
    (view,) = covey("agents", "--json").json
    assert view["presence"] == "offline"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("join", ["covey join coder --export", "true; covey join coder --export --pid $$; true"])
def test_a_shell_that_evaluates_join_is_a_session_until_the_shell_ends(tmp_path: Path, shell: str, join: str) -> None:
    folder = Folder(tmp_path)
    assert folder.covey("init").code == DONE
    script = f"""
        eval "$({join})"
        cd /
        covey send hello --to coder --json || exit 9
        covey agents --json
        exit 0"""
    said = folder.run([shell, "-c", script])
    assert (said.code, said.err) == (0, "")
    sent, agents = said.json_lines
    assert sent["deliveries"][0]["session"] == agents[0]["sessions"][0]["id"]
    assert agents[0]["presence"] == "idle"
    (after,) = folder.covey("agents", "--json").json
    assert (after["presence"], after["sessions"]) == ("offline", [])


@pytest.mark.parametrize("shell", SHELLS)
def test_after_leave_a_shell_acts_as_no_agent(tmp_path: Path, shell: str) -> None:
    folder = Folder(tmp_path)
    assert folder.covey("init").code == DONE
    script = """
        eval "$(covey join coder --export)"
        eval "$(covey leave --export)"
        echo "[$COVEY_SESSION$COVEY_AGENT$COVEY_STORE]"
        covey send hello --to coder"""
    said = folder.run([shell, "-c", script])
    assert (said.code, said.out) == (USAGE, "[]\n")
    assert "name the acting agent" in said.err
