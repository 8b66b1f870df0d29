"""The registry of mailboxes: Covey's entries and foreign ones."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from covey.core.directory.card import Card, Presence
from covey.core.formats.layout import Layout
from covey.core.identity import Identity
from covey.core.limits import PRESENCE_LEASE
from covey.core.names import AgentName
from covey.services.directory.directory import JoinRequest
from covey.services.mirror.registry import RegistryEntry
from tests.services.shared_folder import opened

ALICE, BOB = AgentName("alice"), AgentName("bob")
FIELDS = """agent_id description capabilities status allow_from max_concurrent_tasks current_tasks registered_at
last_heartbeat"""
CARD = Card(description="sorts things", capabilities=("sorting",), quota=2)


async def test_an_agent_of_the_space_is_entered_with_its_card_and_status(tmp_path: Path) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        joined = await shared.services.directory.join(JoinRequest(name=ALICE, card=CARD))
        entry = shared.registry()["alice"]
        assert set(FIELDS.split()) <= set(entry)
        assert (entry["agent_id"], entry["description"], entry["status"]) == ("alice", "sorts things", "idle")
        assert (entry["capabilities"], entry["max_concurrent_tasks"]) == (["sorting"], 2)
        await shared.services.directory.leave(joined.identity)
        assert shared.registry()["alice"]["status"] == "offline"


@pytest.mark.parametrize(
    ("heard", "is_there"),
    [(timedelta(0), True), (-PRESENCE_LEASE, True), (-2 * PRESENCE_LEASE, False), (timedelta(hours=10), False)],
)
def test_a_heartbeat_counts_only_near_the_present(heard: timedelta, is_there: bool) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert RegistryEntry(CARD, Presence.IDLE, now + heard).is_there(now) is is_there


async def test_a_foreign_entry_registers_an_agent_with_its_card(tmp_path: Path) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        entry = {
            "agent_id": "bob",
            "description": "writes",
            "capabilities": ["writing"],
            "allow_from": ["alice"],
            "max_concurrent_tasks": 1,
            "mood": "good",
        }
        shared.drop("_registry.json", {"bob": entry, "broken": 7})
        view = await shared.services.directory.agent(BOB)
        assert (view.card.description, view.card.allow_from, view.card.quota) == ("writes", ("alice",), 1)
        await shared.services.directory.join(JoinRequest(name=ALICE))
        assert shared.registry()["bob"] == entry  # it stays as the foreign program wrote it
        assert shared.registry()["broken"] == 7
        assert await shared.faults() == []


async def test_entries_of_the_space_that_a_foreign_program_overwrites_are_restored(tmp_path: Path) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        await shared.services.directory.join(JoinRequest(name=ALICE, card=CARD))
        path = tmp_path / "m" / "_registry.json"
        path.write_text(
            json.dumps({"alice": {"agent_id": "alice", "description": "a fool"}, "bob": {"agent_id": "bob"}})
        )
        assert [view.name for view in await shared.services.directory.agents()] == ["alice", "bob"]
        entries = shared.registry()
        assert (entries["alice"]["description"], entries["bob"]["agent_id"]) == ("sorts things", "bob")
        assert (await shared.services.directory.agent(ALICE)).card == CARD


async def test_the_entry_of_an_offline_agent_gives_way_to_its_own_program(tmp_path: Path) -> None:
    async with opened(tmp_path / "m", Layout.MAILBOX) as shared:
        await shared.services.directory.register(BOB, CARD, Identity(BOB))
        assert shared.registry()["bob"]["status"] == "offline"
        theirs = {"agent_id": "bob", "description": "awake", "status": "idle"}
        (tmp_path / "m" / "_registry.json").write_text(json.dumps({"bob": theirs}))
        assert (await shared.services.directory.agent(BOB)).card.description == "awake"
        await shared.send("alice", "bob", "hello")
        assert shared.registry()["bob"] == theirs
