"""`covey channels`: through `main(argv)`, and `run` as a process that posts and hears."""

import http.client
import json
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from covey.surfaces.cli.exits import DONE, INTERRUPTED, NOT_FOUND, REFUSED, UNAVAILABLE, USAGE
from tests.runtime.channels.receiving import Receiver, receiver_in, until
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey

SECRET = "a secret of ours"
URL = "https://hooks.example.org/services/T0/xyzzy"
NEVER = "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"


@pytest.fixture
def receiver(tmp_path: Path) -> Generator[Receiver]:
    with receiver_in(tmp_path) as receiver:
        yield receiver


def sent(covey: Covey, text: str, *words: str) -> str:
    said = covey("send", "--from", "coder", "--to", "ops", text, "--json", *words)
    assert said.code == DONE, said.err
    return said.json["id"]


# ---------------------------------------------------------------------------------------- add, list, bind, say


def test_channels_are_added_listed_and_removed(covey: Covey) -> None:
    assert "There are no channels" in covey("channels").out
    assert covey("channels", "--json").json == []
    assert covey("channels", "add", "--console", "ops").out == "ops is a channel: console.\n"
    assert covey("channels", "list").out.splitlines()[1].split() == ["ops", "console", "0"]
    (listed,) = covey("channels", "--json").json
    assert (listed["channel"], listed["kind"], listed["usable"], listed["waiting"]) == ("ops", "console", True, 0)
    sent(covey, "hello")
    said = covey("channels", "remove", "ops")
    assert (said.code, said.out) == (DONE, "ops is no channel any more.\n")
    assert "covey inbox ops" in said.err
    assert "hello" in covey("inbox", "ops").out
    assert covey("channels", "remove", "ops").code == NOT_FOUND


def test_the_url_and_the_secret_are_shown_to_nobody(covey: Covey, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    (tmp_path / "url").write_text(f"{URL}\n")
    words = ("--webhook-file", "url", "--style", "slack", "--secret-file", "secret", "--about", "people")
    added = covey("channels", "add", "ops", *words, "--json")
    assert added.code == DONE, added.err
    assert (added.json["host"], added.json["style"], added.json["signed"]) == ("hooks.example.org", "slack", True)
    covey("export", "all.jsonl")
    seen = "".join(
        (
            added.out,
            covey("channels").out,
            covey("log").out,
            covey("log", "--json").out,
            covey("agents", "--json").out,
            (tmp_path / "all.jsonl").read_text(),
        )
    )
    assert "hooks.example.org" in seen
    assert SECRET not in seen
    assert "xyzzy" not in seen


def test_what_people_say_goes_to_who_is_bound_and_back(covey: Covey) -> None:
    covey("channels", "add", "ops", "--console")
    sent(covey, "good morning")
    assert "Every conversation" in covey("channels", "bind", "ops", "--to", "coder").out
    bound = covey("channels", "bind", "ops", "c-1", "--to", "agent:coder:main", "--json").json
    assert (bound["conversation"], bound["to"]) == ("c-1", "agent:coder:main")
    said = covey("channels", "say", "ops", "c-1", "Is it\x1b done?", "--person", "ann", "--json")
    assert said.code == DONE, said.err
    (heard,) = covey("inbox", "coder", "--json").json
    assert (heard["text"], heard["callback"]) == ("Is it\x1b done?", {"channel": "ops", "session_id": "c-1"})
    covey("reply", "1", "Nearly\x1b[31m.\nAlmost.", "--from", "coder")
    done = covey("channels", "run", "--once")
    assert done.code == DONE, done.err
    assert done.out.splitlines() == ["ops coder: good morning", "ops/c-1 coder: Nearly[U+001B][31m. Almost."]
    assert covey("inbox", "ops").out.startswith("Nothing")
    assert covey("channels", "unbind", "ops", "c-1").code == DONE
    assert covey("channels", "unbind", "ops", "c-1").code == NOT_FOUND
    assert len(covey("channels", "--json").json[0]["bindings"]) == 1


def test_a_question_to_people_is_answered_by_its_number_of_the_post(covey: Covey) -> None:
    covey("channels", "add", "ops", "--console")
    asked = sent(covey, "May I?", "--request")
    covey("channels", "run", "--once", "ops")
    said = covey("channels", "say", "ops", "", "You may.", "--reply-to", f"{asked}.1")
    assert said.code == DONE, said.err
    assert "You may." in covey("inbox", "coder").out
    assert covey("owed", "ops", "--json").json[0]["state"] == "answered"
    elsewhere = covey("channels", "say", "ops", "c-9", "No.", "--reply-to", asked)
    assert (elsewhere.code, "was not posted" in elsewhere.err) == (USAGE, True)


def test_saying_it_again_with_its_key_changes_nothing(covey: Covey) -> None:
    covey("channels", "add", "ops", "--console")
    sent(covey, "hello")
    covey("channels", "bind", "ops", "--to", "coder")
    first, again = (covey("channels", "say", "ops", "c-1", "yes", "--key", "k", "--json").json["id"] for _ in range(2))
    assert first == again
    assert len(covey("inbox", "coder", "--json").json) == 1


def test_failed_posts_are_shown_and_tried_again(covey: Covey, receiver: Receiver) -> None:
    receiver.start("404", "500")
    covey("channels", "add", "ops", "--webhook", receiver.url)
    post = f"{sent(covey, 'hello')}.1"
    sent(covey, "later")
    assert covey("channels", "retry", post).code == REFUSED
    done = covey("channels", "run", "--once")
    assert done.code == REFUSED
    assert "failed: ops (its own), from coder: 404: not [31m now" in done.err
    assert "not taken by ops" in done.err
    assert "1 failed" in covey("channels").out
    shown = covey("channels", "posts", "ops", "--json").json
    assert [(p["post"] == post, p["state"], p["attempts"], p["text"]) for p in shown] == [
        (True, "failed", 1, "hello"),
        (False, "pending", 1, "later"),
    ]
    assert post in covey("channels", "posts", "ops").out
    assert covey("channels", "posts", "ops", "--state", "delivered").out == "No post is delivered.\n"
    assert "is tried again" in covey("channels", "retry", post).out
    assert covey("channels", "retry", post, "--json").json["error"]["code"] == "illegal-move"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("add",), USAGE, "NAME is missing"),
        (("add", "ops"), USAGE, "--console, or --webhook URL"),
        (("add", "no name", "--console"), USAGE, "agent name"),
        (("add", "operator", "--console"), REFUSED, "reserved"),
        (("add", "ops", "more", "--console"), USAGE, "add takes NAME"),
        (("add", "ops", "--console", "--webhook", "http://h/"), USAGE, "not allowed with"),
        (("add", "ops", "--console", "--style", "slack"), USAGE, "a console has none"),
        (("add", "ops", "--webhook", "ftp://h/"), USAGE, "use http://HOST"),
        (("add", "ops", "--webhook", "http://h/", "--style", "pigeon"), USAGE, "invalid choice"),
        (("add", "ops", "--webhook", "http://h/", "--secret-file", "none"), USAGE, "No such file"),
        (("list", "ops"), USAGE, "list takes none"),
        (("list", "--to", "coder"), USAGE, "it goes with bind"),
        (("bind", "ops"), USAGE, "say which agent"),
        (("bind", "ops", "--to", "coder"), NOT_FOUND, "no channel has the name ops"),
        (("say", "ops", "c-1", "hi"), NOT_FOUND, "covey channels add"),
        (("say", "ops"), USAGE, "CONVERSATION is missing"),
        (("posts", "ops"), NOT_FOUND, "no channel"),
        (("retry", "7"), USAGE, "<message id>.<n>"),
        (("retry", f"{NEVER}.1"), NOT_FOUND, "covey channels posts"),
        (("run",), NOT_FOUND, "no channel"),
        (("run", "ops"), NOT_FOUND, "no channel has the name ops"),
        (("run", "--once", "--listen", "0"), USAGE, "--once ends"),
        (("fly",), USAGE, "invalid choice"),
    ],
)
def test_what_is_wrong_is_said(covey: Covey, words: tuple[str, ...], code: int, says: str) -> None:
    said = covey("channels", *words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    assert said.err.count("\n") == 1
    as_json = covey("channels", *words, "--json")
    assert (as_json.code, set(as_json.json)) == (code, {"error"})


def test_more_that_is_wrong_once_there_is_a_channel(covey: Covey) -> None:
    covey("channels", "add", "ops", "--console")
    covey("channels", "add", "web", "--webhook", "http://127.0.0.1:9/")
    for words, code, says in (
        (("bind", "ops", "--to", "nobody"), NOT_FOUND, "nobody"),
        (("bind", "ops", "--to", "*"), USAGE, "one agent or session"),
        (("bind", "ops", "a\nb", "--to", "web"), USAGE, "printable"),
        (("bind", "ops", "--to", "web"), USAGE, "a channel itself"),
        (("say", "ops", "c-1", "hi"), NOT_FOUND, "covey channels bind"),
        (("run", "ops", "--listen", "0"), USAGE, "the channel has no secret"),
        (("run", "--listen", "0"), USAGE, "exactly one channel"),
        (("run", "ops", "--listen", "a/b"), USAGE, "HOST:PORT"),
    ):
        said = covey("channels", *words)
        assert (said.code, says in said.err) == (code, True), said
    joined = covey("join", "ops")
    assert (joined.code, "no agent can join under this name" in joined.err) == (REFUSED, True)


def test_an_agents_token_has_no_say_over_channels(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    covey("channels", "add", "ops", "--console")
    token = covey("token", "create", "coder", "--register").out.strip()
    monkeypatch.setenv("COVEY_TOKEN", token)
    for words in ((), ("add", "x", "--console"), ("posts", "ops"), ("run", "--once"), ("say", "ops", "c", "hi")):
        said = covey("channels", *words, "--json")
        assert (said.code, said.json["error"]["code"]) == (REFUSED, "beyond-token")
    assert covey("send", "--to", "ops", "hello").code == DONE


# ----------------------------------------------------------------------------------------------------- processes


def test_a_process_posts_and_hears_until_it_is_interrupted(folder: Folder, receiver: Receiver) -> None:
    receiver.start()
    (folder.path / "secret").write_text(SECRET)
    assert folder.covey("channels", "add", "ops", "--webhook", receiver.url, "--secret-file", "secret").code == DONE
    assert folder.covey("send", "--from", "coder", "--to", "ops", "hello").code == DONE
    assert folder.covey("channels", "bind", "ops", "--to", "coder").code == DONE
    with folder.start("channels", "run", "ops", "--listen", "127.0.0.1:0", "--json") as running:
        ready = json.loads(running.line())
        assert (ready["event"], ready["channels"]) == ("ready", ["ops"])
        posted = json.loads(running.line())
        assert (posted["event"], posted["state"]) == ("posted", "delivered")
        connection = http.client.HTTPConnection(ready["url"].split("/")[2], timeout=10)
        headers = {"Authorization": f"Bearer {SECRET}"}
        connection.request("POST", "/c-1", json.dumps({"text": "Is it done?", "person": "ann"}), headers)
        assert connection.getresponse().status == 200
        connection.close()
        assert json.loads(running.line()) == {"event": "heard", "channel": "ops", "conversation": "c-1"}
        assert folder.covey("reply", "1", "Yes.", "--from", "coder").code == DONE
        until(lambda: receiver.texts("c-1") == ["Yes."], "the answer")
        json.loads(running.line())
        running.process.send_signal(signal.SIGINT)
        ended = running.end()
    assert (ended.code, ended.out, "Traceback" in ended.err) == (INTERRUPTED, "", False)


def test_a_console_that_nobody_reads_any_more_ends_quietly_and_loses_nothing(folder: Folder) -> None:
    assert folder.covey("channels", "add", "ops", "--console").code == DONE
    with folder.start("channels", "run") as running:
        assert "Carrying the posts of ops; Ctrl-C ends it." in running.line("err")
        running.close_stdout()
        assert folder.covey("send", "--from", "coder", "--to", "ops", "hello").code == DONE
        running.process.wait(20)
    assert running.process.returncode == DONE
    again = folder.covey("channels", "run", "--once")
    assert (again.code, again.out) == (DONE, "ops coder: hello\n")


def test_a_port_that_is_taken_is_said(folder: Folder, receiver: Receiver) -> None:
    receiver.start()
    (folder.path / "secret").write_text(SECRET)
    folder.covey("channels", "add", "ops", "--webhook", receiver.url, "--secret-file", "secret")
    said = folder.covey("channels", "run", "ops", "--listen", f"127.0.0.1:{receiver.port}")
    assert (said.code, "can't be listened on" in said.err) == (UNAVAILABLE, True)


# ----------------------------------------------------------------------------------------------------- the operator


def test_the_operator_is_written_to_without_further_ado_and_answers_by_token(
    covey: Covey, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert covey("inbox", "operator").out.startswith("Nothing")
    asked = covey("send", "--from", "coder", "--to", "operator", "--request", "May I?")
    assert asked.code == DONE, asked.err
    covey("send", "--from", "coder", "--to", "operator", "By the way.")
    assert "May I?" in covey("inbox", "operator").out
    refused = covey("reply", "1", "Yes.", "--from", "operator")
    assert (refused.code, "only a token makes an operator" in refused.err) == (REFUSED, True)
    assert covey("join", "operator").code == REFUSED
    monkeypatch.setenv("COVEY_TOKEN", covey("token", "create", "--operator").out.strip())
    assert "May I?" in covey("inbox").out
    assert covey("reply", "1", "You may.").code == DONE
    assert covey("handle", "2").code == DONE
    assert covey("inbox").out.startswith("Nothing")
    monkeypatch.delenv("COVEY_TOKEN")
    (answer,) = covey("inbox", "coder", "--json").json
    assert (answer["text"], answer["from"], answer["grade"]) == ("You may.", "operator", "token")
