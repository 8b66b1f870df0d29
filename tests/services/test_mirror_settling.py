"""Files that foreign programs put away, delete, or archived before the space existed."""

from pathlib import Path

import pytest

from covey.core.formats.layout import Layout
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import Kind
from covey.core.ledger.ticket import TicketMove, TicketState
from covey.core.names import AgentName, Scope, ticket_id
from tests.services.shared_folder import letter, note, opened

ALICE, BOB = AgentName("alice"), AgentName("bob")


async def test_a_file_that_a_loop_archives_is_handled_and_its_debt_closed(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        asked = await shared.ask("bob", "alice", "why?")
        shared.move("inbox/alice/*.json", "archive")
        (copy,) = (await shared.services.mail.receipt(asked)).deliveries
        assert (copy.state, copy.reason) == (DeliveryState.HANDLED, "archived by another program")
        assert copy.archived_at is not None
        ticket = await shared.services.dialogue.ticket(ticket_id(asked, ALICE))
        assert (ticket.state, ticket.close_reason) == (TicketState.CLOSED, TicketMove.ARCHIVE)
        # the foreign program writes the archived line itself
        assert [line["event"] for line in shared.manifest()] == ["sent"]
        assert shared.paths() == [f"archive/{asked}.json"]
        assert await shared.faults() == []


async def test_a_mailbox_that_has_processed_a_question_still_owes_the_answer(tmp_path: Path) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        asked = await shared.ask("bob", "alice", "why?")
        theirs = shared.read("alice/inbox/*.msg.json")
        shared.move("alice/inbox/*.msg.json", "alice/processed")
        (copy,) = (await shared.services.mail.receipt(asked)).deliveries
        assert copy.state is DeliveryState.HANDLED
        assert (await shared.services.dialogue.ticket(ticket_id(asked, ALICE))).state is TicketState.OPEN
        answer = note(1, "alice", "bob", "because", reply_to=theirs["id"])
        shared.drop("bob/inbox/1745659201_alice.msg.json", answer)
        assert await shared.inbox("bob") == ["because"]
        assert (await shared.services.dialogue.ticket(ticket_id(asked, ALICE))).state is TicketState.ANSWERED
        assert await shared.faults() == []


async def test_a_deleted_file_is_restored(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        sent = (await shared.send("bob", "alice", "hello")).message_id
        path = tmp_path / "d" / "inbox" / "alice" / f"{sent}.json"
        before = path.read_bytes()
        path.unlink()
        assert await shared.inbox("alice") == ["hello"]
        assert path.read_bytes() == before


async def test_a_deleted_foreign_file_is_restored_in_our_format(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        path = shared.drop("inbox/alice/x.json", letter(1, "bob", "alice", "hello", id="x"))
        assert await shared.inbox("alice") == ["hello"]
        path.unlink()
        assert await shared.inbox("alice") == ["hello"]
        again = shared.read("inbox/alice/x.json")
        assert (again["id"], again["from"], again["body"]) == ("x", "bob", "hello")


async def test_a_foreign_sweep_sweeps_the_scope(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        asked = await shared.ask("bob", "alice", "why?", scope=Scope("M1"))
        answer = await shared.send("alice", "", "because", kind=Kind.RESPONSE, in_reply_to=asked)
        shared.move("inbox/alice/*.json", "archive/by-task/M1")
        shared.move("inbox/bob/*.json", "archive/by-task/M1")
        assert (await shared.services.dialogue.gate(Scope("M1"))).passed
        for message_id in (asked, answer.message_id):
            assert await shared.store.read(lambda tx, one=message_id: tx.messages.is_swept(one))
        assert shared.paths() == sorted(f"archive/by-task/M1/{one}.json" for one in (asked, answer.message_id))
        assert "task-swept" not in [line["event"] for line in shared.manifest()]
        assert await shared.faults() == []


async def test_one_swept_file_of_a_scope_with_debts_sweeps_nothing_else(tmp_path: Path) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        told = (await shared.send("bob", "alice", "fyi", scope=Scope("M1"))).message_id
        asked = await shared.ask("bob", "carol", "why?", scope=Scope("M1"))
        shared.move("inbox/alice/*.json", "archive/by-task/M1")
        assert not (await shared.services.dialogue.gate(Scope("M1"))).passed
        assert not await shared.store.read(lambda tx: tx.messages.is_swept(told))
        assert shared.paths() == sorted((f"archive/by-task/M1/{told}.json", f"inbox/carol/{asked}.json"))


@pytest.mark.parametrize("shelf", ["archive", "archive/by-task/M1"])
async def test_files_that_were_archived_before_the_space_existed_are_history(tmp_path: Path, shelf: str) -> None:
    async with opened(tmp_path / "d", Layout.DIALOGUE) as shared:
        asked = letter(1, "bob", "alice", "why?", id="q", kind="request", expects_reply=True, phase="M1")
        answer = letter(2, "alice", "bob", "because", id="a", kind="response", in_reply_to="q", phase="M1")
        shared.drop(f"{shelf}/q.json", asked)
        shared.drop(f"{shelf}/a.json", answer)
        question, response = await shared.messages()
        assert (question.text, response.text, response.in_reply_to) == ("why?", "because", question.id)
        for agent in ("alice", "bob"):
            assert await shared.inbox(agent) == []
            assert await shared.services.dialogue.owed_by(AgentName(agent)) == []
        assert await shared.store.read(lambda tx: tx.messages.is_swept(question.id)) == (shelf != "archive")
        assert shared.paths() == sorted((f"{shelf}/a.json", f"{shelf}/q.json"))
        assert shared.manifest() == []
        assert await shared.faults() == []


async def test_a_task_that_was_processed_before_the_space_existed_begins_no_task(tmp_path: Path) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        task = note(1, "bob", "alice", "sort it", type="task", task={"id": "t", "state": "pending", "deadline": None})
        shared.drop("alice/processed/1745659201_bob.msg.json", task)
        (message,) = await shared.messages()
        assert await shared.store.read(lambda tx: tx.tasks.get(message.id)) is None
        assert await shared.faults() == []
