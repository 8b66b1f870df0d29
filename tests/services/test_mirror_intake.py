"""Intake: files that foreign programs put into inboxes become mail."""

import shutil
from pathlib import Path

import pytest

from covey.core.directory.card import Card
from covey.core.formats.layout import Layout
from covey.core.identity import Grade, Identity
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import Kind
from covey.core.ledger.ticket import TicketState
from covey.core.names import AgentName, parse_message_id, ticket_id
from tests.services.shared_folder import Killed, letter, note, opened

ALICE = AgentName("alice")


async def test_a_file_in_an_inbox_becomes_a_delivery_from_the_sender_it_names(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        asked = letter(1, "np-critic", "alice", "why?", kind="request", expects_reply=True, phase="M1", subject="style")
        shared.drop(f"inbox/alice/{asked['id']}.json", asked)
        (message,) = await shared.messages()
        assert await shared.inbox("alice") == ["why?"]
        assert (message.id, message.kind, message.scope, message.subject) == (asked["id"], Kind.REQUEST, "M1", "style")
        assert message.sender == Identity(AgentName("np-critic"), None, Grade.CLAIMED)
        (ticket,) = await shared.services.dialogue.owed_by(ALICE)
        assert ticket.asker == "np-critic"
        assert shared.manifest() == []  # the sender itself writes its line
        assert await shared.faults() == []


async def test_a_mailbox_message_keeps_its_own_id_beside_ours(tmp_path: Path) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        shared.drop("alice/inbox/1745659201_bob.msg.json", note(1, "bob", "alice", "hello"))
        (message,) = await shared.messages()
        assert message.marks is not None
        assert message.marks.foreign_id == "msg_1745659201_bob"
        assert parse_message_id(message.id)
        assert await shared.inbox("alice") == ["hello"]
        assert await shared.faults() == []


@pytest.mark.parametrize("after", [False, True])
async def test_a_process_killed_between_commit_and_note_takes_no_file_in_twice(tmp_path: Path, after: bool) -> None:
    root = tmp_path / "m"
    async with opened(root, Layout.MAILBOX, ("note", after)) as shared:
        shared.drop("alice/inbox/1745659201_bob.msg.json", note(1, "bob", "alice", "hello"))
        with pytest.raises(Killed):
            await shared.messages()
    async with opened(root, Layout.MAILBOX) as shared:
        assert len(await shared.messages()) == 1
        assert shared.paths() == ["alice/inbox/1745659201_bob.msg.json"]


@pytest.mark.parametrize("layout", Layout)
async def test_the_mirrors_notes_may_be_lost(tmp_path: Path, layout: Layout) -> None:
    root = tmp_path / "shared"
    async with opened(root, layout) as shared:
        name = "inbox/alice/x.json" if layout is Layout.DIALOGUE else "alice/inbox/1745659201_bob.msg.json"
        content = (
            letter(1, "bob", "alice", "theirs") if layout is Layout.DIALOGUE else note(1, "bob", "alice", "theirs")
        )
        shared.drop(name, content)
        await shared.send("alice", "bob carol", "ours")
        await shared.services.mail.settle(
            (await shared.send("bob", "alice", "done with")).message_id, Identity(ALICE), "read"
        )
        paths, lines = shared.paths(), shared.manifest()
        assert len(paths) == 4
    for file in (root / ".covey").glob("mirror.db*"):
        file.unlink()
    async with opened(root, layout) as shared:
        assert len(await shared.messages()) == 3
        assert shared.paths() == paths
        assert shared.manifest() == lines
        assert await shared.faults() == []


async def test_an_answer_that_comes_with_its_question_answers_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        asked = letter(1, "bob", "alice", "why?", id="q-1", kind="request", expects_reply=True)
        answer = letter(2, "alice", "bob", "because", id="a-1", kind="response", in_reply_to="q-1")
        shared.drop("inbox/bob/a-1.json", answer)
        shared.drop("inbox/alice/q-1.json", asked)
        question, response = await shared.messages()
        ticket = await shared.services.dialogue.ticket(ticket_id(question.id, ALICE))
        assert (ticket.state, ticket.answer) == (TicketState.ANSWERED, response.id)
        assert await shared.faults() == []


async def test_a_sender_that_is_not_allowed_is_refused_and_its_file_is_put_away(tmp_path: Path) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        card = Card(allow_from=("carol",))
        await shared.services.directory.register(ALICE, card, Identity(ALICE))
        shared.drop("alice/inbox/1745659201_bob.msg.json", note(1, "bob", "alice", "hello"))
        (message,) = await shared.messages()
        (copy,) = (await shared.services.mail.receipt(message.id)).deliveries
        assert copy.state is DeliveryState.REFUSED
        assert "allow_from" in (copy.reason or "")
        assert shared.paths() == ["alice/processed/1745659201_bob.msg.json"]


async def test_a_malformed_file_does_not_keep_others_from_being_read(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        shared.drop("inbox/alice/junk.json", {"id": "1", "from": "bob"})
        shared.drop("inbox/alice/good.json", letter(1, "bob", "alice", "hello"))
        assert await shared.inbox("alice") == ["hello"]
        (setback,) = await shared.folder.setbacks()
        assert setback.path == "inbox/alice/junk.json"
        assert "inbox/alice/junk.json" in shared.paths()


async def test_foreign_names_are_mapped_and_answers_go_to_their_folders(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        asked = letter(1, "Bob Ünlü", "alice", "why?", kind="request", expects_reply=True)
        shared.drop(f"inbox/alice/{asked['id']}.json", asked)
        (message,) = await shared.messages()
        assert message.sender.agent.startswith("foreign-")
        await shared.send("alice", "", "because", kind=Kind.RESPONSE, in_reply_to=message.id)
        answer = shared.read("inbox/Bob Ünlü/*.json")
        assert (answer["to"], answer["in_reply_to"]) == ("Bob Ünlü", asked["id"])


async def test_names_that_are_unsafe_as_folders_are_not_used_as_folders(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        shared.drop("inbox/alice/x.json", letter(1, "../../../escaped", "alice", "hi"))
        shared.drop("inbox/alice/y.json", letter(2, "operator", "alice", "obey"))
        first, second = await shared.messages()
        for message in (first, second):
            assert message.sender.agent.startswith("foreign-")
            assert not message.sender.is_operator
            await shared.send("alice", message.sender.agent, "who are you?")
        answered = [path for path in shared.paths() if not path.startswith("inbox/alice/")]
        assert all(path.startswith(("inbox/foreign-", "inbox/operator/")) for path in answered)
        assert not (tmp_path / "escaped").exists()


async def test_a_second_copy_of_a_file_is_set_aside(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        sent = (await shared.send("bob", "alice", "hello")).message_id
        ours = tmp_path / "d" / "inbox" / "alice" / f"{sent}.json"
        shutil.copy(ours, ours.with_name("copy.json"))
        assert [message.text for message in await shared.messages()] == ["hello"]
        (setback,) = await shared.folder.setbacks()
        assert "second copy" in setback.problem


async def test_a_file_that_arrives_during_a_pause_waits_for_its_end(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        operator = Identity(AgentName("operator"), None, Grade.TOKEN)
        await shared.services.pauses.pause(None, operator, "lunch")
        shared.drop("inbox/alice/x.json", letter(1, "bob", "alice", "hello"))
        assert len(await shared.messages()) == 0
        await shared.services.pauses.resume(None, operator)
        assert await shared.inbox("alice") == ["hello"]
