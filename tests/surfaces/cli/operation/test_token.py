"""`covey token`, and every verb with an identity from COVEY_TOKEN."""

import logging
import os
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from covey.core.coroutine import finish
from covey.core.identity import hash_secret
from covey.engines import connect_inline, parse_store_url
from covey.services.space import Services
from covey.surfaces.cli.exits import DONE, NOT_FOUND, REFUSED, UNAVAILABLE, USAGE
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey

NEVER = "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"
NOTIFY = ("--phase", "T-1", "--kind", "notify", "--subject", "x", "--body", "hi")


def correspond(covey: Covey) -> tuple[str, str]:
    """Send a request from critic to coder and a message from lead to critic; return the ids of both messages."""
    words = ("--from", "critic", "--to", "coder", "--request", "--scope", "T-1", "--subject", "style", "--register")
    asked = covey("send", "did you mean it?", *words, "--json").json["id"]
    told = covey("send", "the plan", "--from", "lead", "--to", "critic", "--scope", "T-1", "--json").json["id"]
    return asked, told


def made(covey: Covey, *words: str) -> str:
    said = covey("token", "create", *words)
    assert said.code == DONE, said.err
    return said.out.strip()


@pytest.fixture
def coder(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> Covey:
    """Run commands with the coder's token, after `correspond`."""
    correspond(covey)
    monkeypatch.setenv("COVEY_TOKEN", made(covey, "coder"))
    return covey


@pytest.fixture
def operator(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> Covey:
    """Run commands with the operator's token, after `correspond`."""
    correspond(covey)
    monkeypatch.setenv("COVEY_TOKEN", made(covey, "--operator"))
    return covey


# -------------------------------------------------------------------------------------------- create, list, revoke


def test_a_token_is_written_once_and_alone_on_stdout(covey: Covey) -> None:
    correspond(covey)
    said = covey("token", "create", "coder", "--note", "build machine")
    token = said.out.removesuffix("\n")
    assert (said.code, "\n" in token) == (DONE, False)
    assert token.startswith("covey_")
    assert token not in said.err
    (listed,) = covey("token", "list", "--json").json
    assert listed["id"] in said.err
    assert "shown only now" in said.err
    assert token not in covey("token", "list").out + covey("log").out + covey("log", "--json").out


def test_with_json_a_token_is_created_listed_and_revoked(covey: Covey) -> None:
    correspond(covey)
    created = covey("token", "create", "coder", "--note", "build machine", "--agent", "lead", "--json").json
    assert set(created) == {"id", "agent", "note", "token"}
    assert created["id"] == hash_secret(created["token"])[:12]
    covey("token", "create", "--operator", "--json")
    first, second = covey("token", "list", "--json").json
    assert first == {
        "id": created["id"],
        "agent": "coder",
        "operator": False,
        "note": "build machine",
        "created_at": first["created_at"],
        "used_at": None,
        "revoked_at": None,
    }
    assert (second["agent"], second["operator"]) == ("operator", True)
    revoked = covey("token", "revoke", created["id"], "--json").json
    assert (revoked["id"], revoked["changed"], revoked["revoked_at"] is None) == (created["id"], True, False)
    again = covey("token", "revoke", created["id"], "--json")
    assert (again.code, again.json["changed"]) == (DONE, False)
    by_lead, by_user = covey("log", "--action", "token.created", "--json").json_lines
    assert (by_lead["actor"]["agent"], by_user["actor"]["agent"][:5]) == ("lead", "user-")
    assert len(covey("log", "--action", "token.revoked", "--json").json_lines) == 1


def test_the_list_shows_the_agent_the_note_and_the_state_of_a_token(covey: Covey) -> None:
    assert "There are no tokens" in covey("token", "list").out
    correspond(covey)
    made(covey, "coder", "--note", "build machine")
    token_id = covey("token", "list", "--json").json[0]["id"]
    heads, row = covey("token", "list").out.splitlines()
    assert heads.split() == ["id", "of", "made", "used", "state", "note"]
    assert row.split() == [token_id, "coder", "0s", "ago", "never", "works", "build", "machine"]
    assert covey("token", "revoke", token_id).out == f"Token {token_id} of coder works no longer.\n"
    assert "nothing was changed" in covey("token", "revoke", token_id).out
    assert "revoked 0s ago" in covey("token", "list").out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["token"], USAGE, "required: action"),
        (["token", "mint"], USAGE, "invalid choice"),
        (["token", "create"], USAGE, "name one, or say --operator"),
        (["token", "create", "codr"], NOT_FOUND, "did you mean coder?"),
        (["token", "create", "nobody-like-that"], NOT_FOUND, "To register a new name, add --register"),
        (["token", "create", "../coder"], USAGE, "A-Z a-z 0-9"),
        (["token", "create", "operator"], USAGE, "say --operator"),
        (["token", "create", "covey"], REFUSED, "the name covey is reserved"),
        (["token", "create", "coder", "--operator"], USAGE, "an agent or for the operator"),
        (["token", "create", "coder", "--note", ""], USAGE, "say what the token is for"),
        (["token", "create", "coder", "--note", "  "], USAGE, "say what the token is for"),
        (["token", "create", "coder", "--note", "a\x1b[31mb"], USAGE, "printable"),
        (["token", "create", "coder", "--note", "two\nlines"], USAGE, "printable"),
        (["token", "create", "coder", "--note", "x" * 201], USAGE, "at most 200"),
        (["token", "list", "coder"], USAGE, "all tokens are listed"),
        (["token", "list", "--operator"], USAGE, "goes with create"),
        (["token", "revoke"], USAGE, "`covey token list` shows the ids"),
        (["token", "revoke", "coder"], USAGE, "12 digits"),
        (["token", "revoke", "000000000000"], NOT_FOUND, "`covey token list` shows the ids"),
        (["token", "revoke", "000000000000", "--note", "x"], USAGE, "goes with create"),
    ],
)
def test_a_wrong_command_says_what_to_do(covey: Covey, words: Sequence[str], code: int, says: str) -> None:
    correspond(covey)
    said = covey(*words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    assert said.err.count("\n") == 1
    assert "error" in covey(*words, "--json").json
    assert covey("token", "list", "--json").json == []


def test_a_token_in_place_of_an_id_is_not_repeated(covey: Covey) -> None:
    correspond(covey)
    token = made(covey, "coder")
    for said in (covey("token", "revoke", token), covey("token", "revoke", token, "--json")):
        assert said.code == USAGE
        assert token[6:20] not in said.out + said.err


def test_a_token_for_a_new_agent_registers_the_agent(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVEY_TOKEN", made(covey, "newcomer", "--register"))
    assert covey("inbox").code == DONE


# -------------------------------------------------------------------------------------------- by an agent's token


def test_the_agent_of_the_token_acts_and_the_grade_is_shown(coder: Covey) -> None:
    assert [item["text"] for item in coder("inbox", "--json").json] == ["did you mean it?"]
    sent = coder("send", "hello", "--to", "critic", "--json")
    assert sent.code == DONE
    (message,) = coder("thread", sent.json["id"], "--json").json
    assert (message["from"], message["grade"]) == ("coder", "token")
    assert coder("send", "hello", "--from", "coder", "--to", "critic", "--agent", "coder").code == DONE
    assert coder("reply", "1", "yes", "--close").code == DONE
    assert coder("owed", "--json").json == []


@pytest.mark.parametrize(
    "words",
    [
        ["send", "hi", "--from", "lead", "--to", "critic"],
        ["send", "hi", "--agent", "lead", "--to", "critic"],
        ["ask", "hi", "--from", "lead", "--to", "critic", "--timeout", "0s"],
        ["reply", "1", "hi", "--from", "critic"],
        ["withdraw", NEVER, "--from", "critic"],
        ["messages-send", "--from", "lead", "--to", "critic", *NOTIFY],
        ["join", "lead"],
        ["join", "--agent", "lead"],
        ["join", "--delegate", "lead"],
        ["inbox", "critic"],
        ["inbox", "--agent", "critic"],
        ["messages-inbox", "--agent", "critic"],
        ["owed", "critic"],
        ["owed", "lead", "--to"],
        ["watch", "critic", "--for", "0s"],
        ["sweep", "T-1", "--force-commit-phase", "--why", "because"],
        ["gate", "T-1", "--force-commit-phase", "--why", "because"],
        ["token", "list"],
        ["token", "create", "coder"],
        ["token", "create", "--operator"],
        ["token", "revoke", "000000000000"],
        ["doctor"],
        ["doctor", "--salvage", "saved.db"],
        ["prune", "--dry-run"],
        ["prune", "--older-than", "0s"],
        ["backup", "space.tar"],
        ["export"],
        ["export", "space.jsonl", "--tokens"],
        ["import", "space.jsonl"],
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_actions_beyond_an_agents_token_are_refused_and_change_nothing(
    coder: Covey, words: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "space.jsonl.gz").touch()
    if words[0] == "import":
        (tmp_path / "space.jsonl").write_text("{}\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    said = coder(*words)
    assert said.code == REFUSED, said
    assert "coder's token can't" in (said.out if words[0].startswith("messages-") else said.err)
    assert "the plan" not in said.out
    assert coder(*words, "--json").json["error"]["code"] == "beyond-token"
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    monkeypatch.delenv("COVEY_TOKEN")
    actions = [event["action"] for event in coder("log", "--json").json_lines]
    assert actions == ["agent.registered"] * 2 + ["message.sent", "agent.registered", "message.sent", "token.created"]


@pytest.mark.parametrize("verb", ["thread", "receipt", "messages-thread", "archive", "withdraw", "handle", "reply"])
def test_a_message_between_other_agents_is_reported_as_unknown(
    coder: Covey, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = made_before(monkeypatch)
    (told,) = [m["id"] for m in coder("search", "plan", "--json").json]
    monkeypatch.setenv("COVEY_TOKEN", token)
    said = coder(verb, told, *(["text"] if verb == "reply" else []), "--json")
    assert said.code in (NOT_FOUND, REFUSED)
    expected = "messages-not-found" if verb.startswith("messages-") else "message-unknown"
    assert said.json["error"]["code"] == expected
    assert "the plan" not in said.out + said.err


def made_before(monkeypatch: pytest.MonkeyPatch) -> str:
    """Remove the token from the environment, and return it."""
    token = os.environ["COVEY_TOKEN"]
    monkeypatch.delenv("COVEY_TOKEN")
    return token


def test_an_agents_token_reads_its_own_records_with_every_reading_verb(coder: Covey) -> None:
    (asked,) = coder("inbox", "--json").json
    assert [m["text"] for m in coder("search", "mean", "--json").json] == ["did you mean it?"]
    assert coder("search", "plan", "--json").json == []
    assert coder("thread", asked["id"]).code == DONE
    assert coder("thread", "1").code == DONE
    assert [d["agent"] for d in coder("receipt", asked["id"], "--json").json["deliveries"]] == ["coder"]
    assert {view["agent"] for view in coder("agents", "--json").json} == {"coder", "critic", "lead"}
    assert [ticket["debtor"] for ticket in coder("owed", "--json").json] == ["coder"]
    gate = coder("gate", "T-1", "--json")
    assert (gate.code, gate.json["error"]["details"]["pending_subjects"]) == (REFUSED, ["style"])
    told = coder("log", "--ids").out + coder("log").out + coder("watch", "--after", "0", "--for", "0s").out
    assert asked["id"] in told
    assert "the plan" not in told
    assert "lead" not in told


def test_a_session_that_joins_with_a_token_keeps_the_grade_of_the_token(
    coder: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined = coder("join", "--lease", "1h", "--description", "writes", "--json").json
    assert (joined["agent"], joined["adopted"]) == ("coder", 1)
    monkeypatch.setenv("COVEY_SESSION", joined["environment"]["COVEY_SESSION"])
    sent = coder("send", "hello", "--to", "critic", "--json").json["id"]
    (message,) = coder("thread", sent, "--json").json
    assert message["grade"] == "token"
    (event,) = coder("log", "--message", sent, "--json").json_lines
    assert event["actor"] == {"agent": "coder", "session": joined["session"], "grade": "token"}
    assert coder("leave").code == DONE
    assert coder("send", "hello", "--to", "critic").code == REFUSED


def test_a_token_with_the_session_of_another_agent_is_refused(coder: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    token = made_before(monkeypatch)
    lead = coder("join", "lead", "--lease", "1h", "--json").json["environment"]
    monkeypatch.setenv("COVEY_TOKEN", token)
    monkeypatch.setenv("COVEY_SESSION", lead["COVEY_SESSION"])
    assert "coder's token can't act as lead" in coder("send", "hi", "--to", "critic").err
    monkeypatch.delenv("COVEY_SESSION")
    monkeypatch.setenv("COVEY_AGENT", "lead")
    assert "coder's token can't act as lead" in coder("send", "hi", "--to", "critic").err


@pytest.mark.parametrize(
    ("token", "says"),
    [
        ("", "that is no token"),
        ("secret", "that is no token"),
        ("covey_" + "0" * 64, "this space has no such token"),
        ("covey_" + "0" * 64 + "\n", "that is no token"),
    ],
)
def test_an_invalid_token_is_refused_by_every_verb_that_needs_an_identity(
    covey: Covey, token: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    correspond(covey)
    monkeypatch.setenv("COVEY_TOKEN", token)
    for words in (["inbox", "coder"], ["send", "hi", "--from", "lead", "--to", "coder"], ["agents"], ["token", "list"]):
        said = covey(*words)
        assert (said.code, said.out) == (REFUSED, "")
        assert says in said.err
        assert covey(*words, "--json").json["error"]["code"] == "identity-refused"
    assert covey("version").code == covey("help", "identity").code == covey("init").code == DONE


def test_the_error_for_a_revoked_token_names_its_id(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    correspond(covey)
    token = made(covey, "coder")
    token_id = hash_secret(token)[:12]
    covey("token", "revoke", token_id)
    monkeypatch.setenv("COVEY_TOKEN", token)
    said = covey("inbox")
    assert (said.code, f"token {token_id} was revoked" in said.err) == (REFUSED, True)


def test_checking_a_token_creates_no_space(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    said = folder.covey("inbox", "coder", COVEY_TOKEN="covey_" + "0" * 64)
    assert (said.code, "there is no space at" in said.err) == (UNAVAILABLE, True)
    said = folder.covey("send", "hello", "--to", "coder", COVEY_TOKEN="covey_" + "0" * 64)
    assert (said.code, "there is no space at" in said.err) == (REFUSED, True)
    assert list(tmp_path.iterdir()) == []


def test_a_restore_is_refused_while_a_token_is_set(
    coder: Covey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = made_before(monkeypatch)
    assert coder("backup", "space.tar").code == DONE
    monkeypatch.setenv("COVEY_TOKEN", token)
    said = coder("restore", "space.tar", "--to", "sqlite:new/covey.db", "--agent", "ops")
    assert (said.code, "unset COVEY_TOKEN" in said.err) == (REFUSED, True)
    assert not (tmp_path / "new").exists()


# --------------------------------------------------------------------------------------- by the operator's token


def test_the_operator_may_do_everything_and_acts_as_the_operator(operator: Covey, tmp_path: Path) -> None:
    assert [item["text"] for item in operator("inbox", "critic", "--json").json] == ["the plan"]
    assert operator("archive", "1", "--agent", "critic").code == DONE
    asked = operator("inbox", "coder", "--json").json[0]["id"]
    assert operator("reply", asked, "yes, says the operator").code == DONE
    assert operator("messages-archive", asked, "--agent", "coder").code == DONE
    assert operator("gate", "T-1").code == DONE
    assert operator("token", "create", "coder").code == DONE
    assert operator("doctor", "--quick").code == DONE
    assert operator("backup", str(tmp_path / "space.tar")).code == DONE
    assert operator("export", str(tmp_path / "space.jsonl")).code == DONE
    assert operator("prune", "--older-than", "0s").code == DONE
    done = {event["action"]: event["actor"] for event in operator("log", "--json").json_lines}
    acted = {"agent": "operator", "session": None, "grade": "token"}
    assert [done[name] for name in ("delivery.archived", "message.sent", "token.created")] == [acted] * 3


def test_the_operator_cannot_send_as_another_agent(operator: Covey) -> None:
    said = operator("send", "hi", "--from", "lead", "--to", "coder")
    assert (said.code, "operator's token can't act as lead" in said.err) == (REFUSED, True)
    assert operator("send", "hi", "--to", "coder", "--json").code == DONE
    assert operator("inbox", "coder", "--json").json[-1]["from"] == "operator"


# --------------------------------------------------------------------------------------------------- as processes


def test_processes_take_the_token_from_the_environment(folder: Folder) -> None:
    folder.covey("send", "for the coder", "--from", "lead", "--to", "coder", "--register")
    folder.covey("send", "for the critic", "--from", "lead", "--to", "critic", "--register")
    created = folder.covey("token", "create", "coder")
    assert (created.code, created.out.count("\n")) == (DONE, 1)
    token = created.out.strip()
    inbox = folder.covey("inbox", "--json", COVEY_TOKEN=token)
    assert [item["text"] for item in inbox.json] == ["for the coder"]
    assert folder.covey("inbox", "critic", COVEY_TOKEN=token).code == REFUSED
    asked = folder.covey("ask", "well?", "--to", "critic", "--timeout", "1s", "--json", COVEY_TOKEN=token)
    assert asked.json["debt"]["asker"] == "coder"
    watched = folder.covey("watch", "--after", "0", "--for", "0s", "--json", COVEY_TOKEN=token)
    assert {e["content"]["text"] for e in watched.json_lines if e["content"]} == {"for the coder", "well?"}
    (listed,) = folder.covey("token", "list", "--json").json
    assert listed["used_at"] is not None
    assert folder.covey("token", "revoke", listed["id"]).code == DONE
    assert folder.covey("inbox", COVEY_TOKEN=token).code == REFUSED


@pytest.fixture
def opened(folder: Folder) -> Generator[Folder]:
    """A folder whose space is also open in this process, so that written pages stay in the write-ahead log."""
    ports = connect_inline(parse_store_url(f"sqlite:{folder.path}/.covey/covey.db"), ())
    finish(Services(ports).history.last())
    yield folder
    finish(ports.close())


def test_the_token_is_in_no_file_of_the_space(opened: Folder, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    folder = opened
    folder.covey("send", "hi", "--from", "lead", "--to", "coder", "--register")
    said = [folder.covey("token", "create", "coder", "--note", "note-that-is-kept"), folder.covey("token", "list")]
    token = said[0].out.strip()
    for words in (["inbox"], ["send", "hi", "--to", "lead"], ["log"], ["token", "list"], ["send", "hi", "--from", "x"]):
        said.append(folder.covey(*words, COVEY_TOKEN=token))
        said.append(folder.covey(*words, "--json", COVEY_TOKEN=token))
    said += [folder.covey("token", "revoke", token), folder.covey("export", "space.jsonl", "--tokens")]
    said += [folder.covey("backup", "space.tar"), folder.covey("token", "revoke", hash_secret(token)[:12])]
    said.append(folder.covey("inbox", COVEY_TOKEN=token))
    secret = token.removeprefix("covey_").encode()
    files = [path for path in folder.path.rglob("*") if path.is_file()]
    contents = {path.name: path.read_bytes() for path in files}
    assert {"covey.db", "covey.db-wal", "space.jsonl", "space.tar"} <= set(contents)
    assert any(b"note-that-is-kept" in content for content in contents.values())
    assert any(hash_secret(token).encode() in content for content in contents.values())
    for name, content in contents.items():
        assert secret not in content, name
        assert bytes.fromhex(secret.decode()) not in content, name
    for one in said[1:]:
        assert secret.decode() not in one.out + one.err
    assert secret.decode() not in said[0].err + caplog.text


ON_IDS: Sequence[tuple[str, ...]] = (
    ("reply", "ID", "yes"),
    ("approve", "ID"),
    ("reject", "ID", "--reason", "no"),
    ("handle", "ID"),
    ("dismiss", "ID"),
    ("withdraw", "ID"),
    ("thread", "ID"),
    ("archive", "ID"),
    ("messages-archive", "ID"),
    ("messages-thread", "ID"),
    ("task", "ID"),
    ("accept", "ID"),
    ("update", "ID", "--complete", "done"),
    ("cancel", "ID"),
    ("receipt", "ID"),
    ("send", "hi", "--to", "critic", "--reply-to", "ID"),
)
"""Verbs that take the id of a message or a task."""


@pytest.mark.parametrize("words", ON_IDS, ids=lambda words: str(words[0]))
def test_an_id_of_other_agents_is_refused_exactly_like_an_unknown_id(coder: Covey, words: tuple[str, ...]) -> None:
    said: list[tuple[int, str]] = []
    for message_id in (_of_others(coder), NEVER):
        answer = coder(*(message_id if word == "ID" else word for word in words))
        said.append((answer.code, (answer.out + answer.err).replace(message_id, "ID")))
    assert said[0] == said[1]
    assert said[0][0] == NOT_FOUND, said


def _of_others(covey: Covey) -> str:
    """Return the id of a message from the lead to the critic."""
    token = os.environ.pop("COVEY_TOKEN")
    try:
        return covey("send", "not for the coder", "--from", "lead", "--to", "critic", "--json").json["id"]
    finally:
        os.environ["COVEY_TOKEN"] = token
