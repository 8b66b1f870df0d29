"""Outflow: the folder is brought in line with the ledger, even if processes die on the way."""

import fcntl
import re
from pathlib import Path

import pytest

from covey.core.formats.layout import Layout
from covey.core.identity import Identity
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind
from covey.core.names import AgentName, Scope
from covey.ports.store import Transaction
from covey.services.act import Act, journal
from tests.services.shared_folder import Killed, Shared, opened

ALICE, BOB = AgentName("alice"), AgentName("bob")


async def test_a_message_to_several_has_an_id_for_each_and_one_origin(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        sent = (await shared.send("bob", "alice carol", "hello")).message_id
        files = [shared.read(f"inbox/{agent}/*.json") for agent in ("alice", "carol")]
        assert len({file["id"] for file in files} | {sent}) == 3
        assert {file["covey"]["id"] for file in files} == {sent}
        assert [file["to"] for file in files] == ["alice", "carol"]
        assert [(line["id"], line["to"]) for line in shared.manifest()] == [(file["id"], file["to"]) for file in files]


async def test_a_request_stays_in_the_inbox_of_a_loop_until_its_debt_is_closed(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        asked = await shared.ask("bob", "alice", "why?", scope=Scope("M1"))
        answer = (await shared.send("alice", "", "because", kind=Kind.RESPONSE, in_reply_to=asked)).message_id
        assert shared.paths() == [f"inbox/alice/{asked}.json", f"inbox/bob/{answer}.json"]
        await shared.services.dialogue.archive(asked, Identity(ALICE))
        assert shared.paths() == [f"archive/{asked}.json", f"inbox/bob/{answer}.json"]
        await shared.services.dialogue.sweep(Scope("M1"), Identity(BOB))
        assert shared.paths() == sorted(f"archive/by-task/M1/{one}.json" for one in (asked, answer))
        lines = [(line["event"], line.get("id"), line.get("moved")) for line in shared.manifest()]
        assert lines == [
            ("sent", asked, None),
            ("sent", answer, None),
            ("archived", asked, None),
            ("task-swept", None, 2),
        ]


async def test_a_handled_message_of_a_mailbox_is_moved_to_processed(tmp_path: Path) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        sent = (await shared.send("bob", "alice", "hello")).message_id
        (path,) = shared.paths()
        assert re.fullmatch(rf"alice/inbox/{sent[:13]}\d{{6}}_bob_{sent[14:22]}\.msg\.json", path)
        await shared.services.mail.settle(sent, Identity(ALICE))
        assert shared.paths() == [path.replace("inbox", "processed")]


async def story(shared: Shared) -> None:
    """Run every operation that produces a file or a line."""
    asked = await shared.ask("bob", "alice", "why?", scope=Scope("M1"))
    await shared.send("bob", "alice carol", "fyi")
    await shared.send("alice", "", "because", kind=Kind.RESPONSE, in_reply_to=asked)
    await shared.services.dialogue.archive(asked, Identity(ALICE))
    await shared.services.dialogue.sweep(Scope("M1"), Identity(BOB))


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("method", ["look", "bring", "append", "advance"])
async def test_a_pass_that_is_killed_is_completed_by_the_next_one(tmp_path: Path, method: str, after: bool) -> None:
    root = tmp_path / "d"
    async with opened(root, Layout.DIALOGUE, (method, after)) as shared:
        with pytest.raises(Killed):
            await shared.ask("bob", "alice carol", "why?")
    async with opened(root, Layout.DIALOGUE) as shared:
        messages = await shared.messages()
        assert [message.text for message in messages] == ([] if method == "look" else ["why?"])
        files = [shared.read(path) for path in shared.paths()]
        assert [file["body"] for file in files] == 2 * [message.text for message in messages]
        assert sorted(line["id"] for line in shared.manifest()) == sorted(file["id"] for file in files)
        assert await shared.faults() == []


async def test_a_folder_that_was_lost_is_rebuilt_identically(tmp_path: Path) -> None:
    root = tmp_path / "d"
    async with opened(root, Layout.DIALOGUE) as shared:
        await story(shared)
        paths, lines = shared.paths(), shared.manifest()
    for file in (root / ".covey").glob("mirror.db*"):
        file.unlink()
    for path in paths:
        (root / path).unlink()
    (root / "manifest.jsonl").unlink()
    async with opened(root, Layout.DIALOGUE) as shared:
        assert len(await shared.messages()) == 3
        assert shared.paths() == paths
        assert shared.manifest() == lines


async def test_a_commit_counts_while_the_folder_can_not_be_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = tmp_path / "d"
    async with opened(root, Layout.DIALOGUE, limit_s=0.05) as shared:
        await shared.send("bob", "alice", "before")
        with (root / ".covey" / "mirror.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            sent = await shared.send("bob", "alice", "meanwhile")
        assert "not in sync" in caplog.text
        assert await shared.inbox("alice") == ["before", "meanwhile"]
        assert f"inbox/alice/{sent.message_id}.json" in shared.paths()


async def test_pruned_messages_are_removed_from_the_folder(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        gone = (await shared.send("bob", "alice carol", "old")).message_id
        for agent in (ALICE, AgentName("carol")):
            await shared.services.dialogue.archive(gone, Identity(agent))
        kept = (await shared.send("bob", "alice", "new")).message_id

        async def prune(tx: Transaction) -> None:
            await tx.pruned.remove([gone])
            await journal(Act(tx, Identity(BOB), shared.services.clock.now()), Action.MESSAGES_PRUNED)

        assert len(shared.paths()) == 3
        await shared.store.commit(prune)
        assert shared.paths() == [f"inbox/alice/{kept}.json"]
