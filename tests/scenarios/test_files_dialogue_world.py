"""Rules of agent loops in their folder: subjects are categories, all fields are present, and one reader archives."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import covey
from tests.adapters.children import child
from tests.foreign.loop_folder import LoopFolder
from tests.foreign.running import LOOP, asked, neighbour
from tests.surfaces.loop import TASK, Answer, Verb, in_a_process, inbox, sent

CRITIC, EXECUTOR = "np-critic", "np-executor"


OUR_ARCHIVER = """
import contextlib, io, json, sys
from covey.surfaces.cli.main import main
print("ready", flush=True)
for line in sys.stdin:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main(line.split())
    said = json.loads(out.getvalue())
    print(said["error"]["code"] if "error" in said else "archived" if "archived" in said else len(said), flush=True)
"""

ROUNDS = 60


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "messages"


@pytest.fixture
def ours(root: Path) -> Verb:
    root.mkdir()
    verb = in_a_process(root)
    assert verb("init", "--store", f"files:{root}?layout=dialogue", "--json").code == 0
    return verb


def theirs(root: Path, verb: str, *words: str) -> Any:
    return asked(LOOP, root, verb, *words)


def their_note(root: Path, body: str) -> str:
    given = ("--from", CRITIC, "--to", EXECUTOR, "--phase", TASK, "--kind", "notify", "--subject", "style")
    return theirs(root, "send", *given, "--body", body)["id"]


def unread(root: Path) -> list[str]:
    return sorted(path.stem for path in (root / "inbox" / EXECUTOR).glob("*.json"))


def manifest(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "manifest.jsonl").read_text().splitlines()]


def test_listing_the_inbox_removes_no_unread_note_of_the_same_category(root: Path, ours: Verb) -> None:
    notes = [their_note(root, "line 3 is too long"), their_note(root, "line 9 is too long")]
    assert sorted(inbox(ours, EXECUTOR)) == sorted(notes)
    assert unread(root) == sorted(notes)
    notes += [sent(ours, "notify", CRITIC, EXECUTOR, "--body", f"line {n} is too long") for n in (12, 15)]
    assert sorted(inbox(ours, EXECUTOR)) == unread(root) == sorted(notes)


def test_a_note_supersedes_others_of_its_category_only_if_its_sender_asks_for_it(root: Path, ours: Verb) -> None:
    old = their_note(root, "two findings are left")
    words = ("--from", CRITIC, "--to", EXECUTOR, "--scope", TASK, "--subject", "style", "--json")
    assert ours("send", "one finding is left", *words).code == 0
    assert len(unread(root)) == 2
    new = ours("send", "none is left", "--supersede", *words).json["id"]
    assert unread(root) == [new]
    assert (root / "archive" / f"{old}.json").exists()


async def test_a_model_is_shown_every_note_of_a_category(root: Path, ours: Verb) -> None:
    for n in (3, 9):
        their_note(root, f"line {n} is too long")
    async with covey.open(f"files:{root}") as space:
        executor = await space.join(EXECUTOR)
        async with executor.turn() as turn:
            letters = turn.pending.letters
        assert [letter.text for letter in letters] == ["line 3 is too long", "line 9 is too long"]


@pytest.mark.parametrize("words", [(), ("--request",), ("--scope", "T-1"), ("--subject", "style")])
def test_loops_see_a_message_without_a_scope_or_a_subject(root: Path, ours: Verb, words: tuple[str, ...]) -> None:
    given = ("--from", CRITIC, "--to", EXECUTOR, "--register", "--json")
    message_id = ours("send", "hello", *words, *given).json["id"]
    (seen,) = theirs(root, "inbox", "--agent", EXECUTOR)
    assert (seen["id"], seen["body"]) == (message_id, "hello")
    assert seen["phase"] == ("T-1" if "--scope" in words else "no-task")
    assert seen["subject"] == ("style" if "--subject" in words else "request" if "--request" in words else "notify")
    # In the space, the message is as it was sent.
    (kept,) = ours("messages-thread", message_id).json
    assert (kept["phase"], kept["subject"]) == (seen["covey"].get("scope"), seen["covey"].get("subject"))
    theirs(root, "archive", message_id)
    assert "--request" in words or inbox(ours, EXECUTOR) == []


def test_the_manifest_has_the_fields_of_the_loops(root: Path, ours: Verb) -> None:
    request = sent(ours, "request", CRITIC, EXECUTOR, "--round", "2", "--body", "why?", "--expects-reply")
    answer = sent(ours, "response", EXECUTOR, CRITIC, "--body", "because", "--in-reply-to", request)
    assert ours("messages-archive", request, "--agent", EXECUTOR).code == 0
    lines = {(line["event"], line["id"]): line for line in manifest(root)}
    shared = ("event", "id", "from", "to", "kind", "phase", "task_id", "round", "in_reply_to", "expects_reply")
    for line in lines.values():
        assert set(shared) | {"created_at"} <= set(line)
    asked_for = lines["sent", request]
    assert (asked_for["task_id"], asked_for["round"], asked_for["expects_reply"]) == (TASK, 2, True)
    assert lines["sent", answer]["in_reply_to"] == request
    assert ("archived", request) in lines


def test_of_two_simultaneous_archivers_exactly_one_succeeds(
    root: Path, ours: Verb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COVEY_STORE", f"files:{root}")
    loop = LoopFolder(root)
    winners: Counter[str] = Counter()
    with neighbour(LOOP, root, "archive-each") as their, child(OUR_ARCHIVER) as our:
        assert our.line() == "ready"
        for n in range(ROUNDS):
            message_id = loop.send(CRITIC, EXECUTOR, f"note {n}", phase=TASK)["id"]
            our.say(f"messages-inbox --agent {EXECUTOR}")
            assert our.line() == "1"
            calls = [(our, f"messages-archive {message_id}"), (their, message_id)]
            for one, words in reversed(calls) if n % 2 else calls:
                one.say(words)
            outcomes = {"theirs": their.line(), "ours": our.line()}
            assert sorted(outcomes.values()) == ["archived", "messages-already-archived"], (n, outcomes)
            winners[next(who for who, outcome in outcomes.items() if outcome == "archived")] += 1
    assert sum(winners.values()) == ROUNDS
    assert inbox(ours, EXECUTOR) == [] == unread(root)
    archived = Counter(line["id"] for line in manifest(root) if line["event"] == "archived")
    assert len(archived) == ROUNDS
    assert set(archived.values()) == {1}
    assert ours("doctor", "--json").code == 0


def test_a_claim_never_writes_over_another_file(root: Path, ours: Verb) -> None:
    note = their_note(root, "the first")
    (root / "archive").mkdir()
    (root / "archive" / f"{note}.json").write_text("another file")
    assert ours("messages-archive", note).code != 0
    assert (root / "archive" / f"{note}.json").read_text() == "another file"


def test_the_answer_to_a_loop_contains_the_path_of_the_file(root: Path, ours: Verb) -> None:
    words = ("--from", CRITIC, "--to", EXECUTOR, "--task", TASK, "--kind", "notify", "--subject", "style")
    answer = ours("messages-send", *words, "--body", "hi").json
    assert Path(answer["path"]) == root / "inbox" / EXECUTOR / f"{answer['id']}.json"
    assert Path(answer["path"]).exists()


STRANGE = ["My Phase", "Feature 7: Übersicht", "a/b", "über", "x" * 300, ".hidden", "../up", "-", " "]


@pytest.mark.parametrize("name", STRANGE)
def test_a_phase_and_a_subject_in_a_foreign_form_are_kept_shown_and_gated(root: Path, ours: Verb, name: str) -> None:
    given = ("--from", CRITIC, "--to", EXECUTOR, f"--phase={name}", f"--subject={name}", "--kind", "request")
    request = theirs(root, "send", *given, "--body", "why?", "--expects-reply")
    (seen,) = ours("messages-inbox", "--agent", EXECUTOR, f"--task={name}").json
    assert (seen["phase"], seen["subject"]) == (name, name)
    closed = ours("gate", "--json", "--", name)
    assert closed.error == "loop-commit-precondition-missing"
    assert closed.json["error"]["details"]["pending_subjects"] == [name]
    words = ("--from", EXECUTOR, "--to", CRITIC, f"--phase={name}", f"--subject={name}", "--kind", "response")
    answer = ours("messages-send", *words, "--body", "so", "--in-reply-to", request["id"]).json
    on_disk = json.loads((root / "inbox" / CRITIC / f"{answer['id']}.json").read_bytes())
    assert (on_disk["phase"], on_disk["subject"]) == (name, name)
    assert ours("messages-archive", request["id"]).code == 0
    kept = json.loads((root / "archive" / f"{request['id']}.json").read_bytes())
    assert kept == request
    swept = ours("gate", "--sweep", "--agent", "lead", "--json", "--", name)
    assert (swept.code, swept.json["messages_swept"]) == (0, 2)
    files = sorted(path.name for path in (root / "archive").rglob("*.json"))
    assert files == sorted(f"{one}.json" for one in (request["id"], answer["id"]))
    exported = ours("export", str(root.parent / "all.jsonl"), "--json")
    assert exported.code == 0
    assert (
        ours("import", str(root.parent / "all.jsonl"), "--store", f"sqlite:{root.parent}/there.db", "--json").code == 0
    )
    assert ours("doctor", "--json").json["findings"] == []


def finding(ours: Verb, code: str) -> Any:
    (found,) = [one for one in ours("doctor", "--json").json["findings"] if one["code"] == code]
    return found


@pytest.mark.parametrize("saved", ["in place", "by renaming"])
@pytest.mark.parametrize("shelf", ["inbox", "archive"])
@pytest.mark.parametrize("whose", ["theirs", "ours"])
def test_the_doctor_reports_a_file_that_was_changed_by_hand(
    root: Path, ours: Verb, whose: str, shelf: str, saved: str
) -> None:
    note = their_note(root, "as it was")
    if whose == "ours":
        note = sent(ours, "notify", CRITIC, EXECUTOR, "--body", "as it was")
    assert note in inbox(ours, EXECUTOR)
    if shelf == "archive":
        assert ours("messages-archive", note).code == 0
    path = root / (f"inbox/{EXECUTOR}" if shelf == "inbox" else "archive") / f"{note}.json"
    changed = path.read_text().replace("as it was", "by hand")
    if saved == "by renaming":
        (root / "saved.tmp").write_text(changed)
        (root / "saved.tmp").replace(path)
    else:
        path.write_text(changed)
    for _ in range(2):  # also after a pass has seen it
        assert finding(ours, "folder-file-changed")["items"] == [str(path.relative_to(root))]
    assert ours("messages-thread", note).json[0]["body"] == "as it was"
    assert "by hand" not in [message["body"] for message in ours("messages-inbox", "--agent", EXECUTOR).json]
    assert "by hand" in path.read_text()


def test_the_doctor_reports_two_files_with_one_id(root: Path, ours: Verb) -> None:
    note = their_note(root, "the first")
    first = root / "inbox" / EXECUTOR / f"{note}.json"
    (first.parent / "again.json").write_text(first.read_text().replace("the first", "the second"))
    bodies = [message["body"] for message in ours("messages-inbox", "--agent", EXECUTOR).json]
    assert sorted(bodies) == ["the first", "the second"]
    (told,) = finding(ours, "folder-file-twice")["items"]
    assert note in told
    assert "again.json" in told


def test_the_doctor_reports_a_manifest_that_is_a_folder(root: Path, ours: Verb) -> None:
    (root / "manifest.jsonl").unlink(missing_ok=True)
    (root / "manifest.jsonl").mkdir()
    words = ("--from", CRITIC, "--to", EXECUTOR, "--register", "--json")
    (root / "inbox" / EXECUTOR).mkdir(parents=True)
    assert subprocess.run(
        [sys.executable, "-m", "covey", "send", "hello", *words], cwd=root, capture_output=True, timeout=60, check=True
    )
    assert len(unread(root)) == 1
    assert finding(quietly(root), "manifest-unusable")["severity"] == "error"
    (root / "manifest.jsonl").rmdir()
    assert ours("messages-inbox", "--agent", EXECUTOR).code == 0
    sent(ours, "notify", CRITIC, EXECUTOR, "--body", "again")
    assert len(manifest(root)) == 2
    assert ours("doctor", "--json").json["findings"] == []


def quietly(root: Path) -> Verb:
    """Return Covey's verbs for calls that may also write to stderr."""

    def call(*words: str) -> Answer:
        done = subprocess.run(
            [sys.executable, "-m", "covey", *words], cwd=root, capture_output=True, timeout=60, check=False
        )
        return Answer(done.returncode, json.loads(done.stdout))

    return call
