"""The two worked traces of a loop that checks its own work. Every step is a separate process."""

from pathlib import Path

import pytest

from tests.surfaces.loop import TASK, Verb, in_a_process, inbox, sent


@pytest.fixture
def covey(tmp_path: Path) -> Verb:
    verb = in_a_process(tmp_path)
    assert verb("init", "--json").code == 0
    return verb


@pytest.mark.requirement("dialogue.trace.resolved")
def test_a_dialogue_that_resolves_before_the_commit(covey: Verb) -> None:
    # Round 1: the executor has edited and verify is red; the critic finds an ambiguous deletion.
    assert inbox(covey, "np-executor", "--task", TASK) == []
    words = ("--round", "1", "--body", "did you mean to drop FoobarService?", "--expects-reply")
    asked = sent(covey, "request", "np-critic", "np-executor", *words)
    # Round 2: the fixer reads the executor's inbox and sees the request; it answers and archives.
    (request,) = covey("messages-inbox", "--agent", "np-executor", "--task", TASK).json
    assert (request["id"], request["expects_reply"], request["subject"]) == (asked, True, "style")
    assert covey("messages-archive", asked).error == "messages-archive-without-reply"
    words = ("--round", "2", "--body", "yes, nothing calls it", "--in-reply-to", asked)
    answer = sent(covey, "response", "np-executor", "np-critic", *words)
    assert covey("messages-archive", asked).json == {"archived": asked}
    assert inbox(covey, "np-executor") == []
    # The critic has zero findings: the commit checks, passes and sweeps.
    assert inbox(covey, "np-critic") == [answer]
    committed = covey("gate", TASK, "--sweep", "--agent", "np-loop", "--json")
    assert (committed.code, committed.json["passed"], committed.json["messages_swept"]) == (0, True, 2)
    assert inbox(covey, "np-critic") == []
    assert [m["id"] for m in covey("messages-thread", answer).json] == [asked, answer]
    (swept,) = [covey("log", "--action", "task-swept", "--json").json]
    assert (swept["scope"], swept["actor"]["agent"], swept["details"]["moved"]) == (TASK, "np-loop", 2)


@pytest.mark.requirement("dialogue.trace.stalled")
def test_a_dialogue_that_stalls_keeps_the_commit_closed(covey: Verb) -> None:
    # Round 2: the critic asks request A.
    words = ("--round", "2", "--body", "why is it retried twice?", "--expects-reply")
    first = sent(covey, "request", "np-critic", "np-executor", *words)
    pending = covey("gate", TASK, "--json").json["error"]["details"]
    assert (pending["observed_pending_replies"], pending["pending_subjects"]) == (1, ["style"])
    # Round 3: the response misses the point; request A stays, and request B is asked.
    sent(covey, "response", "np-executor", "np-critic", "--round", "3", "--body", "renamed it", "--in-reply-to", first)
    words = ("--round", "3", "--body", "the criterion says once", "--expects-reply")
    second = sent(covey, "request", "np-critic", "np-executor", *words, subject="unmet-criterion")
    assert inbox(covey, "np-executor") == [first, second]
    # The commit is refused, with both subjects, and nothing was swept.
    refused = covey("gate", TASK, "--sweep", "--agent", "np-loop", "--json")
    assert (refused.code, refused.error) == (1, "loop-commit-precondition-missing")
    assert refused.json["error"]["details"] == {
        "scope": TASK,
        "missing": "pending-replies-cleared",
        "observed_pending_replies": 2,
        "pending_subjects": ["style", "unmet-criterion"],
    }
    assert inbox(covey, "np-executor") == [first, second]
