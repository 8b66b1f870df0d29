"""Toolkits by name, alone and merged."""

import subprocess
import sys

import pytest

from covey.core.directory.card import PEERS_CAPACITY
from covey.core.errors import Invalid
from covey.core.ledger.offer import Presentation
from covey.toolkits.catalogue import DEFAULT, HOMES, tool_named, toolkit


def test_every_toolkit_is_found_by_its_name() -> None:
    for name in HOMES:
        assert toolkit(name).name == name
    assert toolkit().name == DEFAULT == "native"


def test_each_toolkit_has_exactly_the_agreed_tools() -> None:
    named = {name: [tool.name for tool in toolkit(name).tools] for name in HOMES}
    assert named == {
        "native": [
            "list_agents",
            "send_message",
            "ask_agent",
            "read_inbox",
            "dismiss_message",
            "delegate_task",
            "update_task",
            "spawn_agent",
        ],
        "peers": ["list_peers", "send_to_peer", "request_approval", "decide_approval", "read_message"],
        "dialogue": [
            "messages_send",
            "messages_inbox",
            "messages_archive",
            "messages_thread",
            "pending",
            "read_message",
        ],
        "broadcast": ["broadcast", "dismiss", "spawn", "read_message"],
        "mailbox": ["list_agents", "send_message", "delegate_task", "update_task", "list_tasks", "read_message"],
        "sessions": [
            "sessions_spawn",
            "sessions_send",
            "sessions_list",
            "sessions_history",
            "sessions_stop",
            "read_message",
        ],
        "coordinator": ["SpawnWorker", "SendMessageToWorker", "ListWorkers", "StopWorker", "read_message"],
        "worker": ["read_inbox", "send_message", "ask_agent", "update_task"],
    }


def test_several_toolkits_are_merged_into_one() -> None:
    both = toolkit("peers, broadcast,peers")
    assert both.name == "peers,broadcast"
    peers, broadcast = toolkit("peers").tools, toolkit("broadcast").tools
    assert both.tools == (*peers[:-1], broadcast[-1], *broadcast[:-1])
    assert broadcast[-1].name == peers[-1].name == "read_message"
    assert both.presentation is Presentation.UNTIL_HANDLED
    assert both.capacity is None
    assert both.instructions.count("\n") == 1
    assert both.ways == toolkit("peers").ways
    assert toolkit(["peers"]).capacity == PEERS_CAPACITY
    assert toolkit("native,peers").presentation is Presentation.ONCE


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("peer", "toolkit 'peer' is not valid: did you mean peers?"),
        ("everything", "use native, peers, dialogue, broadcast, mailbox, sessions, coordinator, worker"),
        ("", "use native, peers"),
        (" , ", "use native, peers"),
        ("native,mailbox", "native and mailbox both have list_agents: use one"),
        ("peers,x" + "y" * 10_000, "is not valid: use native"),
    ],
)
def test_an_unknown_toolkit_is_reported(names: str, told: str) -> None:
    with pytest.raises(Invalid) as error:
        toolkit(names)
    assert told in error.value.message


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("list_peer", "did you mean list_peers?"),
        ("shout", "there are list_peers, send_to_peer"),
        (None, "tool is missing: there are list_peers, send_to_peer"),
    ],
)
def test_an_unknown_tool_is_reported(name: object, told: str) -> None:
    with pytest.raises(Invalid) as error:
        tool_named(toolkit("peers"), name)
    assert told in error.value.message


def test_reading_the_catalogue_imports_no_toolkit() -> None:
    code = "import sys, covey.toolkits.catalogue; print([m for m in sys.modules if m.startswith('covey.toolkits.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert done.stdout.strip() == "['covey.toolkits.tool', 'covey.toolkits.catalogue']"
