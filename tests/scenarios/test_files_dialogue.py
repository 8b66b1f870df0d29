"""The worked trace of agent loops over one folder, with one side a foreign program and one side Covey.

Every step is a real process.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import covey
from covey.core.errors import IdReused
from covey.core.ledger.outcome import OutcomeKind
from tests.adapters.children import child
from tests.foreign.running import LOOP, asked, neighbour
from tests.scenarios.world import LIMIT_S, soon
from tests.scenarios.writing import write_five_hundred
from tests.surfaces.loop import TASK, Verb, in_a_process, inbox, sent

FIELDS = [
    *("id", "from", "to", "phase", "round", "kind", "subject"),
    *("body", "expects_reply", "in_reply_to", "created_at"),
]
CRITIC, EXECUTOR = "np-critic", "np-executor"

TORN = """
import os, signal, sys
with open(sys.argv[1], "ab") as manifest:
    manifest.write(b'{"event": "sent", "id": "17')
    manifest.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""

HOLDS_THE_LOCK = """
import os, sys
os.close(os.open(sys.argv[1], os.O_CREAT | os.O_EXCL))
with open(sys.argv[1], "w") as lock:
    lock.write(str(os.getpid()))
print("held")
sys.stdin.readline()
os.unlink(sys.argv[1])
print("let go")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "messages"


@pytest.fixture
def ours(root: Path) -> Verb:
    """Return Covey's verbs. Each call is a process in the shared folder."""
    root.mkdir()
    verb = in_a_process(root)
    assert verb("init", "--store", f"files:{root}?layout=dialogue", "--json").code == 0
    return verb


def theirs(root: Path, verb: str, *words: str) -> Any:
    return asked(LOOP, root, verb, *words)


def their_message(root: Path, kind: str, sender: str, to: str, body: str, *words: str, subject: str = "style") -> Any:
    given = ("--from", sender, "--to", to, "--phase", TASK, "--round", "2", "--kind", kind, "--subject", subject)
    return theirs(root, "send", *given, "--body", body, *words)


def note(ours: Verb, subject: str) -> str:
    """Send a note. A note with the same subject would supersede it."""
    return sent(ours, "notify", CRITIC, EXECUTOR, "--body", "for your information", subject=subject)


def manifest(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "manifest.jsonl").read_text().splitlines()]


def events(root: Path) -> Counter[tuple[str, str]]:
    return Counter((line["event"], str(line.get("id") or line.get("moved"))) for line in manifest(root))


@pytest.mark.requirement("dialogue.layout", "dialogue.manifest")
def test_covey_asks_and_a_foreign_loop_answers_archives_and_commits(root: Path, ours: Verb) -> None:
    question = ("--round", "1", "--body", "did you mean to drop FoobarService?", "--expects-reply")
    request = sent(ours, "request", CRITIC, EXECUTOR, *question)
    on_disk = json.loads((root / "inbox" / EXECUTOR / f"{request}.json").read_bytes())
    assert [name for name in on_disk if name != "covey"] == FIELDS
    # The foreign fixer reads the inbox. It can't archive yet, and neither side can commit.
    assert theirs(root, "inbox", "--agent", EXECUTOR, "--task", TASK) == [on_disk]
    assert theirs(root, "archive", request)["error"]["code"] == "messages-archive-without-reply"
    assert theirs(root, "commit", TASK)["error"]["pending_subjects"] == ["style"]
    assert ours("gate", TASK, "--json").error == "loop-commit-precondition-missing"
    # The loop answers and archives, as documented. Covey sees both.
    response = their_message(root, "response", EXECUTOR, CRITIC, "nothing calls it", "--in-reply-to", request)
    assert inbox(ours, CRITIC, "--task", TASK) == [response["id"]]
    theirs(root, "archive", request)
    assert inbox(ours, EXECUTOR) == []
    assert ours("messages-archive", request).error == "messages-already-archived"
    thread = [message["id"] for message in ours("messages-thread", response["id"]).json]
    assert thread == [request, response["id"]] == [m["id"] for m in theirs(root, "thread", request)]
    # The loop commits: both files move to the archive of the task, and the space marks them as swept.
    assert theirs(root, "commit", TASK) == {"messages_swept": 2}
    assert inbox(ours, CRITIC) == []
    assert ours("gate", TASK, "--json").json["passed"] is True
    assert sorted(path.stem for path in (root / "archive" / "by-task" / TASK).iterdir()) == sorted(thread)
    assert events(root) == {
        ("sent", request): 1,
        ("sent", response["id"]): 1,
        ("archived", request): 1,
        ("task-swept", "2"): 1,
    }


@pytest.mark.requirement("dialogue.layout", "dialogue.manifest")
def test_a_foreign_loop_asks_and_covey_answers_archives_and_commits(root: Path, ours: Verb) -> None:
    request = their_message(root, "request", CRITIC, EXECUTOR, "did you mean to drop it?", "--expects-reply")
    (listed,) = ours("messages-inbox", "--agent", EXECUTOR, "--task", TASK).json
    assert {name: listed[name] for name in FIELDS if name != "created_at"} == {
        name: value for name, value in request.items() if name != "created_at"
    }
    assert ours("messages-archive", request["id"]).error == "messages-archive-without-reply"
    response = sent(ours, "response", EXECUTOR, CRITIC, "--body", "nothing calls it", "--in-reply-to", request["id"])
    assert [m["id"] for m in theirs(root, "inbox", "--agent", CRITIC)] == [response]
    # The request is answered but not archived, which keeps the commit closed on both sides.
    assert theirs(root, "commit", TASK)["error"]["observed_pending_replies"] == 1
    assert ours("messages-archive", request["id"]).json == {"archived": request["id"]}
    assert theirs(root, "inbox", "--agent", EXECUTOR) == []
    assert theirs(root, "archive", request["id"])["error"]["code"] == "messages-already-archived"
    assert [m["id"] for m in theirs(root, "thread", response)] == [request["id"], response]
    committed = ours("gate", TASK, "--sweep", "--agent", "np-loop", "--json")
    assert (committed.code, committed.json["messages_swept"]) == (0, 2)
    assert theirs(root, "inbox", "--agent", CRITIC) == []
    swept = {path.stem for path in (root / "archive" / "by-task" / TASK).iterdir()}
    assert swept == {request["id"], response}
    assert theirs(root, "commit", TASK) == {"messages_swept": 0}
    told = events(root)
    assert (told["sent", response], told["archived", request["id"]], told["task-swept", "2"]) == (1, 1, 1)
    assert (told["sent", request["id"]], sum(told.values())) == (1, 5)


@pytest.mark.requirement("dialogue.layout")
def test_a_dialogue_that_stalls_keeps_both_commits_closed(root: Path, ours: Verb) -> None:
    first = sent(ours, "request", CRITIC, EXECUTOR, "--body", "why is it retried twice?", "--expects-reply")
    their_message(root, "response", EXECUTOR, CRITIC, "renamed it", "--in-reply-to", first)
    second = their_message(
        root, "request", CRITIC, EXECUTOR, "the criterion says once", "--expects-reply", subject="unmet-criterion"
    )
    for refused in (
        ours("gate", TASK, "--sweep", "--agent", "np-loop", "--json").json["error"]["details"],
        theirs(root, "commit", TASK)["error"],
    ):
        assert (refused["missing"], refused["observed_pending_replies"]) == ("pending-replies-cleared", 2)
        assert refused["pending_subjects"] == ["style", "unmet-criterion"]
    assert inbox(ours, EXECUTOR) == [first, second["id"]]
    assert [m["id"] for m in theirs(root, "inbox", "--agent", EXECUTOR)] == [first, second["id"]]


@pytest.mark.requirement("dialogue.layout")
async def test_a_covey_program_is_woken_by_foreign_files_answers_and_commits(root: Path) -> None:
    async with covey.open(f"files:{root}?layout=dialogue") as space:
        executor = await space.join(EXECUTOR)
        for number in range(3):
            request = their_message(root, "request", CRITIC, EXECUTOR, f"why {number}?", "--expects-reply")
            delivery = await soon(executor.inbox.next(timeout=LIMIT_S))
            assert delivery is not None
            assert (delivery.id, delivery.text, delivery.sender.agent) == (request["id"], f"why {number}?", CRITIC)
            await delivery.reply(f"because {number}", close=True)
        answers = theirs(root, "inbox", "--agent", CRITIC)
        assert [answer["body"] for answer in answers] == ["because 0", "because 1", "because 2"]
        assert theirs(root, "inbox", "--agent", EXECUTOR) == []
        # Nothing is owed: Covey commits, and all six files are in the archive of the task.
        assert (await executor.gate(TASK)).passed
        await executor.sweep(TASK)
        assert len(list((root / "archive" / "by-task" / TASK).glob("*.json"))) == 6
        assert theirs(root, "inbox", "--agent", CRITIC) == []
        assert await space.services.audit.check() == []


@pytest.mark.requirement("dialogue.layout")
async def test_a_question_of_a_covey_program_is_answered_by_a_foreign_file(root: Path) -> None:
    async with covey.open(f"files:{root}?layout=dialogue") as space:
        critic = await space.join(CRITIC)
        await space.join(EXECUTOR)
        sent_to = await critic.send(EXECUTOR, "hello")
        assert [m["id"] for m in theirs(root, "inbox", "--agent", EXECUTOR)] == [sent_to.message_id]
        with neighbour(LOOP, root, "answer", EXECUTOR):
            outcome = await soon(critic.ask(EXECUTOR, "did you mean it?", timeout=LIMIT_S))
        assert (outcome.kind, outcome.text) == (OutcomeKind.REPLIED, "re: did you mean it?")


@pytest.mark.requirement("dialogue.layout")
async def test_a_message_to_several_has_a_file_and_an_id_for_each(root: Path) -> None:
    async with covey.open(f"files:{root}?layout=dialogue") as space:
        lead, one, other = await space.join("lead"), await space.join("one"), await space.join("other")
        receipt = await lead.send(["one", "other"], "the plan has changed")
        (first,), (second,) = (theirs(root, "inbox", "--agent", member.name) for member in (one, other))
        assert len({first["id"], second["id"], receipt.message_id}) == 3
        assert first["covey"]["id"] == second["covey"]["id"] == receipt.message_id
        theirs(root, "archive", first["id"])
        assert await one.inbox.peek() == []
        assert [delivery.id for delivery in await other.inbox.peek()] == [receipt.message_id]


@pytest.mark.requirement("dialogue.manifest")
def test_a_manifest_that_a_killed_writer_left_torn_is_continued(root: Path, ours: Verb) -> None:
    before = note(ours, "one")
    with child(TORN, str(root / "manifest.jsonl")) as writer:
        assert writer.end() == -9
    after = [note(ours, f"number-{n}") for n in range(3)]
    lines = (root / "manifest.jsonl").read_bytes().split(b"\n")
    assert lines.pop() == b""
    torn = [line for line in lines if not line.endswith(b"}")]
    assert torn == [b'{"event": "sent", "id": "17']
    told = [json.loads(line)["id"] for line in lines if line not in torn]
    assert told == [before, *after]


@pytest.mark.requirement("dialogue.manifest")
def test_the_lock_of_another_program_is_honoured_and_one_of_a_dead_one_broken(root: Path, ours: Verb) -> None:
    lock = root / "manifest.jsonl.lock"
    (root / "manifest.jsonl").touch()
    with child(HOLDS_THE_LOCK, str(lock)) as holder:
        assert holder.line() == "held"
        meanwhile = note(ours, "one")
        assert inbox(ours, EXECUTOR) == [meanwhile]
        assert (root / "manifest.jsonl").read_bytes() == b""
        holder.say("enough")
        assert holder.line() == "let go"
    first = note(ours, "two")
    assert [line["id"] for line in manifest(root)] == [meanwhile, first]
    with child(HOLDS_THE_LOCK, str(lock)) as holder:
        assert holder.line() == "held"
        holder.kill()
    second = note(ours, "three")
    assert [line["id"] for line in manifest(root)] == [meanwhile, first, second]
    assert not lock.exists()


@pytest.mark.requirement("dialogue.manifest")
async def test_lines_that_both_sides_write_at_once_are_all_in_the_manifest(root: Path) -> None:
    async with covey.open(f"files:{root}?layout=dialogue") as space:
        critic = await space.join(CRITIC)
        with neighbour(LOOP, root, "busy", "other") as busy:
            receipts = [await critic.send("np-judge", f"number {n}", when_unknown="register") for n in range(40)]
            done = busy.answer()
        told = events(root)
    assert {told["sent", one] for one in [*(receipt.message_id for receipt in receipts), *done]} == {1}


@pytest.mark.requirement("mailbox.atomic", "dialogue.layout")
async def test_a_foreign_reader_never_sees_a_partial_file_while_covey_writes_five_hundred(root: Path) -> None:
    root.mkdir()
    with neighbour(LOOP, root, "watch") as onlooker:
        async with covey.open(f"files:{root}?layout=dialogue") as space:
            critic, executor = await space.join(CRITIC), await space.join(EXECUTOR)
            await write_five_hundred(critic, executor)
        told = onlooker.answer()
    assert told["broken"] == []
    assert told["seen"] == 500
    assert len(list(root.glob("inbox/np-executor/*.json"))) + len(list(root.glob("archive/*.json"))) == 500


KEPT = "1794851507318-be90926b-6ccd-4678-8191-a415fb6d187c"


async def send_and_handle(space: covey.Space, text: str) -> None:
    me, other = await space.join(CRITIC), await space.join(EXECUTOR)
    await me.send(EXECUTOR, text, id=KEPT)
    delivery = await other.inbox.next(timeout=LIMIT_S)
    assert delivery is not None
    assert delivery.text == text
    await delivery.handle()


async def test_an_id_in_the_folder_stays_taken_even_if_the_ledger_is_lost(root: Path) -> None:
    async with covey.open(f"files:{root}?layout=dialogue") as space:
        await send_and_handle(space, "look")
    for file in (root / ".covey").glob("*.db*"):
        file.unlink()
    async with covey.open(f"files:{root}?layout=dialogue") as space:
        me = await space.join(CRITIC)
        with pytest.raises(IdReused):
            await me.send(EXECUTOR, "look again", id=KEPT)
    assert list(root.glob(f"**/{KEPT}*.json")) == [root / "archive" / f"{KEPT}.json"]


async def test_a_message_that_the_ledger_has_lost_can_be_sent_again_and_has_one_file_at_the_end(root: Path) -> None:
    async with covey.open(f"files:{root}?layout=dialogue") as space:
        await send_and_handle(space, "look")
    for file in (root / ".covey").glob("covey.db*"):
        file.unlink()
    async with covey.open(f"files:{root}?layout=dialogue") as space:
        await send_and_handle(space, "look")
    assert list(root.glob(f"**/{KEPT}*.json")) == [root / "archive" / f"{KEPT}.json"]
