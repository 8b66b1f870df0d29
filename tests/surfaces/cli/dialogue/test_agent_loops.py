"""messages-send, -inbox, -archive and -thread: agreed flags, eleven fields, JSON in every case."""

import io
import json
import sys
from datetime import datetime
from pathlib import Path

import apsw
import pytest

from covey.adapters.sqlite.engine.access import on_one_cursor
from covey.core.coroutine import finish
from covey.core.directory.card import Card
from covey.core.limits import MAX_DIALOGUE_BODY_BYTES
from covey.core.names import parse_agent_name, parse_message_id
from covey.engines import connect_inline, locate
from covey.services.space import Services
from covey.surfaces.cli.exits import DONE, NOT_FOUND, REFUSED, USAGE
from covey.surfaces.cli.main import main
from tests.surfaces.loop import TASK, Answer, Verb, in_a_process, inbox, sent

FIELDS = [
    *("id", "from", "to", "phase", "round", "kind", "subject"),
    *("body", "expects_reply", "in_reply_to", "created_at"),
]
UNKNOWN_ID = "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"
QUESTION = ("--body", "why?", "--expects-reply")


@pytest.fixture
def covey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Verb:
    """Call verbs through `main(argv)` in a folder with a space of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("COVEY_STORE", "COVEY_AGENT", "COVEY_SESSION"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> Answer:
        code = main(words)
        said = capsys.readouterr()
        assert said.err == ""
        return Answer(code, json.loads(said.out))

    assert run("init", "--json").code == DONE
    return run


@pytest.mark.requirement("dialogue.schema", "dialogue.cli")
def test_a_message_has_the_agreed_fields_in_every_verb(covey: Verb) -> None:
    words = ("--from", "np-critic", "--to", "np-executor", "--phase", TASK, "--round", "2", "--kind", "request")
    answer = covey("messages-send", *words, "--subject", "style", "--body", "did you mean it?", "--expects-reply")
    assert answer.code == DONE
    message = answer.json
    assert list(message)[: len(FIELDS)] == FIELDS
    assert parse_message_id(message["id"]) == message["id"]
    assert datetime.fromisoformat(message["created_at"]).tzinfo is not None
    assert {name: message[name] for name in FIELDS if name not in ("id", "created_at")} == {
        "from": "np-critic",
        "to": "np-executor",
        "phase": TASK,
        "round": 2,
        "kind": "request",
        "subject": "style",
        "body": "did you mean it?",
        "expects_reply": True,
        "in_reply_to": None,
    }
    agreed = {name: message[name] for name in FIELDS}
    (listed,) = covey("messages-inbox", "--agent", "np-executor").json
    assert {name: listed[name] for name in FIELDS} == agreed
    assert covey("messages-thread", message["id"]).json == [agreed]


@pytest.mark.requirement("dialogue.cli")
def test_a_request_stays_in_the_inbox_until_it_is_archived(covey: Verb) -> None:
    asked = sent(covey, "request", "np-critic", "np-executor", *QUESTION)
    assert covey("messages-archive", asked).error == "messages-archive-without-reply"
    answer = sent(covey, "response", "np-executor", "np-critic", "--body", "so", "--in-reply-to", asked)
    (listed,) = covey("messages-inbox", "--agent", "np-executor").json
    assert (listed["id"], listed["state"]) == (asked, "handled")
    assert covey("messages-archive", asked) == (DONE, {"archived": asked})
    assert covey("messages-archive", asked).error == "messages-already-archived"
    assert inbox(covey, "np-executor") == []
    assert inbox(covey, "np-critic") == [answer]
    assert [m["kind"] for m in covey("messages-thread", asked).json] == ["request", "response"]


@pytest.mark.requirement("dialogue.inbox.filter")
def test_an_inbox_is_listed_by_task_kind_and_time(covey: Verb) -> None:
    first = sent(covey, "request", "a", "b", *QUESTION)
    second = sent(covey, "notify", "a", "b", "--body", "done")
    other = sent(covey, "request", "a", "b", *QUESTION, task="T-2")
    assert inbox(covey, "b") == [first, second, other]
    assert inbox(covey, "b", "--task", TASK) == [first, second]
    assert inbox(covey, "b", "--kind", "request") == [first, other]
    assert inbox(covey, "b", "--task", TASK, "--kind", "notify") == [second]
    assert inbox(covey, "b", "--task", "T-3") == []
    created_at = {m["id"]: m["created_at"] for m in covey("messages-inbox", "--agent", "b").json}
    assert inbox(covey, "b", "--since", created_at[second]) == [other]
    assert inbox(covey, "b", "--since", "1h") == [first, second, other]
    assert inbox(covey, "b", "--since", "2100-01-01T00:00:00+00:00") == []


@pytest.mark.requirement("dialogue.cli")
def test_what_is_answered_is_listed_by_the_same_filters(covey: Verb) -> None:
    first = sent(covey, "request", "a", "b", *QUESTION)
    other = sent(covey, "request", "a", "b", *QUESTION, task="T-2")
    sent(covey, "response", "b", "a", "--body", "so", "--in-reply-to", first)
    assert inbox(covey, "b") == [first, other]
    assert inbox(covey, "b", "--task", "T-2") == [other]
    assert inbox(covey, "b", "--kind", "notify") == []


@pytest.mark.requirement("dialogue.cli")
def test_an_unknown_recipient_is_an_error_where_the_roster_is_closed(covey: Verb) -> None:
    sent(covey, "notify", "np-critic", "np-executor", "--body", "hi")
    assert inbox(covey, "np-fixer") == []
    services = Services(connect_inline(locate(), []))
    finish(services.policies.close_roster(services.identities.claim(parse_agent_name("np-critic"))))
    words = ("--from", "np-critic", "--to", "np-executr", "--phase", TASK, "--kind", "notify", "--subject", "style")
    refused = covey("messages-send", *words, "--body", "hi")
    assert (refused.code, refused.error) == (NOT_FOUND, "messages-recipient-unknown")
    assert refused.json["error"]["details"]["closest"] == ["np-executor"]
    assert covey("messages-inbox", "--agent", "np-executr").error == "messages-recipient-unknown"


@pytest.mark.requirement("dialogue.cli")
def test_an_inbox_whose_agent_is_gone_is_an_orphan(covey: Verb, tmp_path: Path) -> None:
    message = sent(covey, "notify", "np-critic", "np-executor", "--body", "hi")
    damaged = apsw.Connection(str(tmp_path / ".covey" / "covey.db"))
    on_one_cursor(damaged)("delete from agents where name = 'np-executor'")
    damaged.close()
    orphan = covey("messages-inbox", "--agent", "np-executor")
    assert (orphan.code, orphan.error) == (NOT_FOUND, "messages-orphan-inbox")
    assert orphan.json["error"]["details"] == {"agent": "np-executor", "waiting": 1}
    assert covey("messages-archive", message).error == "messages-orphan-inbox"


@pytest.mark.requirement("dialogue.cli")
@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["messages-send"], USAGE, "messages-invalid-agent"),
        (["messages-send", "--from", "a", "--to", "b", "--kind", "shout"], USAGE, "messages-invalid-kind"),
        (["messages-send", "--shout"], USAGE, "usage"),
        (["messages-inbox"], USAGE, "messages-invalid-agent"),
        (["messages-inbox", "--agent", "../etc"], USAGE, "messages-invalid-agent"),
        (["messages-inbox", "--agent", "b", "--since", "yesterday"], USAGE, "messages-invalid-since"),
        (["messages-inbox", "--agent", "b", "--task", "two\nlines"], USAGE, "invalid"),
        (["messages-archive"], USAGE, "messages-missing-id"),
        (["messages-archive", "17"], USAGE, "messages-invalid-id"),
        (["messages-archive", UNKNOWN_ID], NOT_FOUND, "messages-not-found"),
        (["messages-thread", UNKNOWN_ID], NOT_FOUND, "messages-not-found"),
        (["messages-thread", "--id", UNKNOWN_ID], NOT_FOUND, "messages-not-found"),
    ],
)
def test_an_error_is_json_with_a_stable_code(covey: Verb, words: list[str], code: int, error: str) -> None:
    answer = covey(*words)
    assert (answer.code, answer.error) == (code, error)
    assert set(answer.json["error"]) == {"code", "message", "details"}


@pytest.mark.requirement("dialogue.cli")
@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["--kind", "notify", "--expects-reply"], REFUSED, "kind-rule"),
        (["--kind", "response"], USAGE, "messages-response-needs-in-reply-to"),
        (["--kind", "response", "--in-reply-to", UNKNOWN_ID], NOT_FOUND, "messages-not-found"),
        (["--kind", "notify", "--subject", "Not Kebab"], USAGE, "invalid"),
        (["--kind", "notify", "--round", "-1"], USAGE, "messages-invalid-round"),
        (["--kind", "notify", "--round", "two"], USAGE, "messages-invalid-round"),
        (["--kind", "notify", "--to", "b c"], USAGE, "messages-invalid-agent"),
        (["--kind", "notify", "--body", "x" * (MAX_DIALOGUE_BODY_BYTES + 1)], REFUSED, "messages-body-too-large"),
    ],
)
def test_a_message_that_breaks_a_rule_is_not_sent(covey: Verb, words: list[str], code: int, error: str) -> None:
    fine = ["--from", "a", "--to", "b", "--phase", TASK, "--subject", "style", "--body", "hi"]
    answer = covey("messages-send", *fine, *words)
    assert (answer.code, answer.error) == (code, error)
    assert inbox(covey, "b") == []


def test_the_largest_body_and_an_empty_one_are_sent(covey: Verb) -> None:
    sent(covey, "notify", "a", "b", "--body", "x" * MAX_DIALOGUE_BODY_BYTES)
    sent(covey, "notify", "a", "b", "--body", "", subject="dead-code")
    assert [len(m["body"]) for m in covey("messages-inbox", "--agent", "b").json] == [MAX_DIALOGUE_BODY_BYTES, 0]


@pytest.mark.parametrize("missing", ["from", "to", "phase", "subject", "kind", "body"])
def test_what_is_missing_is_named_by_the_loops_code(covey: Verb, missing: str) -> None:
    given = {"from": "a", "to": "b", "phase": TASK, "subject": "style", "kind": "notify", "body": "hi"}
    words = [word for name, value in given.items() if name != missing for word in (f"--{name}", value)]
    answer = covey("messages-send", *words)
    invalid = {"from": "messages-invalid-agent", "to": "messages-invalid-agent", "kind": "messages-invalid-kind"}
    assert (answer.code, answer.error) == (USAGE, invalid.get(missing, f"messages-missing-{missing}"))


def test_a_body_may_come_from_a_file_of_this_folder(covey: Verb, tmp_path: Path) -> None:
    (tmp_path / "body.txt").write_text("multi\nline\nbody")
    sent(covey, "notify", "a", "b", "--body-file", "body.txt")
    (listed,) = covey("messages-inbox", "--agent", "b", "--phase", TASK).json
    assert listed["body"] == "multi\nline\nbody"
    words = ("--from", "a", "--to", "b", "--task", TASK, "--subject", "style", "--kind", "notify")
    outside = covey("messages-send", *words, "--body-file", "/etc/hostname")
    assert outside.error == "messages-body-file-not-allowed"
    assert covey("messages-send", *words, "--body-file", "none.txt").error == "messages-body-file-read-failed"
    (tmp_path / "latin").write_bytes(b"\xe4")
    assert covey("messages-send", *words, "--body-file", "latin").error == "messages-body-file-read-failed"


def test_aliases_of_the_loops_mean_the_same(covey: Verb) -> None:
    words = ("--from", "a", "--to", "b", "--task", TASK, "--subject", "style", "--kind", "notify", "--body", "hi")
    message = covey("messages-send", *words).json
    assert (message["phase"], message["path"]) == (TASK, None)  # this store has no files
    assert inbox(covey, "b", "--phase", TASK) == inbox(covey, "b", "--task", TASK) == [message["id"]]
    assert covey("messages-thread", "--id", message["id"]).json[0]["id"] == message["id"]
    assert covey("messages-archive", "--id", message["id"]).json == {"archived": message["id"]}


def test_since_a_time_means_newer_than_it(covey: Verb) -> None:
    first, second = (sent(covey, "notify", "a", "b", "--body", text, subject=text) for text in ("one", "two"))
    created = {m["id"]: m["created_at"] for m in covey("messages-inbox", "--agent", "b").json}
    assert inbox(covey, "b", "--since", created[first]) == [second]
    assert inbox(covey, "b", "--since", created[second]) == []
    assert [m["id"] for m in covey("inbox", "b", "--since", created[first], "--json").json] == [second]
    assert [m["id"] for m in covey("search", "one two", "--since", created[first], "--json").json] == []
    assert [m["id"] for m in covey("search", "two", "--since", created[first], "--json").json] == [second]


def test_a_body_may_come_from_stdin(covey: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"several\nlines")))
    sent(covey, "notify", "a", "b", "--body", "-")
    assert covey("messages-inbox", "--agent", "b").json[0]["body"] == "several\nlines"


def test_a_recipient_that_takes_no_mail_is_an_error_too(covey: Verb) -> None:
    services, bob = Services(connect_inline(locate(), [])), parse_agent_name("b")
    finish(services.directory.register(bob, Card(allow_from=()), services.identities.claim(bob)))
    words = ("--from", "a", "--to", "b", "--phase", TASK, "--kind", "notify", "--subject", "style")
    answer = covey("messages-send", *words, "--body", "hi")
    assert (answer.code, answer.error) == (REFUSED, "not-allowed")


def test_whoever_says_who_acts_archives_as_that_one(covey: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (sent(covey, "notify", "a", "b", "--body", text, subject=text) for text in ("one", "two"))
    assert covey("messages-archive", first, "--agent", "a").error == "not-yours"
    assert covey("messages-archive", first, "--agent", "b").code == DONE
    monkeypatch.setenv("COVEY_AGENT", "a")
    assert covey("messages-archive", second).error == "not-yours"


def test_of_a_message_to_several_someone_says_who_archives_it(covey: Verb) -> None:
    words = ("--from", "a", "--to", "b", "--to", "c", "--register", "--json")
    message = covey("send", "hi", *words).json["id"]
    answer = covey("messages-archive", message)
    assert (answer.code, answer.error) == (USAGE, "messages-invalid-agent")
    assert "--as b or c" in answer.json["error"]["message"]
    assert covey("messages-thread", message).json[0]["to"] == "b, c"
    assert covey("messages-archive", message, "--agent", "c").code == DONE
    assert inbox(covey, "b") == [message]


@pytest.mark.requirement("dialogue.gate", "dialogue.sweep")
def test_the_commit_step_checks_and_sweeps_in_one(covey: Verb) -> None:
    asked = sent(covey, "request", "a", "b", *QUESTION)
    refused = covey("gate", TASK, "--sweep", "--agent", "lead", "--json")
    assert (refused.code, refused.json["error"]["details"]["pending_subjects"]) == (REFUSED, ["style"])
    forced = covey("gate", TASK, "--sweep", "--force-commit-phase", "--why", "late", "--agent", "lead", "--json")
    assert (forced.code, forced.json["messages_swept"]) == (DONE, 1)
    assert [t["message"] for t in forced.json["forced_over"]] == [asked]
    assert covey("gate", TASK, "--sweep", "--agent", "lead", "--json").json["messages_swept"] == 0
    assert covey("gate", TASK, "--sweep", "--json").error == "invalid"  # the journal wants to know who
    assert inbox(covey, "b") == []


@pytest.mark.requirement("dialogue.cli", "dialogue.schema")
def test_as_real_processes_the_verbs_do_the_same(tmp_path: Path) -> None:
    covey = in_a_process(tmp_path)
    assert covey("init", "--json").code == DONE
    asked = sent(covey, "request", "a", "b", "--round", "1", *QUESTION)
    (listed,) = covey("messages-inbox", "--agent", "b", "--task", TASK).json
    assert [*listed][: len(FIELDS)] == FIELDS
    assert covey("messages-archive", asked) == (
        REFUSED,
        {
            "error": {
                "code": "messages-archive-without-reply",
                "message": f"request {asked} expects a reply and has none",
                "details": {"message_id": asked},
            }
        },
    )
    assert [m["id"] for m in covey("messages-thread", asked).json] == [asked]
