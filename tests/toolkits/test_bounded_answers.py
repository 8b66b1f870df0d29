"""Answers of tools stay short in a large space: lists of agents are cut; the peers toolkit keeps 64 messages."""

import json
from datetime import UTC, datetime

import pytest

import covey
from covey.core.directory.card import Agent, Card
from covey.core.limits import PEERS_INBOX_CAPACITY
from covey.core.names import AgentName
from covey.ports.store import Transaction
from covey.surfaces.python.space import Space
from covey.toolkits.agents import LIST_CHARS, MANY_AGENTS
from covey.toolkits.catalogue import HOMES, toolkit

AGENTS = 501
WORDY = Card(description="d" * 9_000, capabilities=("c" * 100,) * 100, allow_from=("a" * 64,) * 50)
WITHOUT_ARGUMENTS = sorted(
    (name, tool.name)
    for name in HOMES
    for tool in toolkit(name).tools
    if not any(parameter.is_required for parameter in tool.parameters)
)
"""Every tool that can be called without arguments. The tools that list agents are among them."""


async def add(space: Space, card: Card) -> None:
    async def operation(tx: Transaction) -> None:
        for n in range(AGENTS):
            await tx.agents.put(Agent(AgentName(f"agent{n:03}"), card, datetime(2026, 1, 1, tzinfo=UTC)))

    await space.services.directory._store.commit(operation)  # pyright: ignore[reportPrivateUsage] # 501 commits are slow


def test_the_tools_that_list_agents_are_among_those_without_arguments() -> None:
    assert {("peers", "list_peers"), ("mailbox", "list_agents"), ("native", "list_agents")} <= set(WITHOUT_ARGUMENTS)


@pytest.mark.parametrize(("kit", "tool"), WITHOUT_ARGUMENTS)
async def test_no_answer_grows_with_the_number_of_agents(kit: str, tool: str) -> None:
    async with covey.open("memory:") as space:
        await add(space, WORDY)
        answer = await (await space.join("coder")).tools(kit).call(tool)
    assert len(answer.text) < LIST_CHARS * 2
    assert len(json.dumps(answer.data)) < LIST_CHARS * 2


async def test_list_peers_shows_present_agents_first_and_counts_the_others() -> None:
    async with covey.open("memory:") as space:
        await add(space, Card())
        coder = await space.join("coder")
        await space.join("zoe")
        answer = json.loads((await coder.tools("peers").call("list_peers")).text)
    assert answer["peers"][0]["agent_id"] == "zoe"
    assert len(answer["peers"]) == MANY_AGENTS
    assert f"{AGENTS + 1 - MANY_AGENTS} more agents" in answer["note"]


@pytest.mark.requirement("peers.receive.cap")
@pytest.mark.parametrize("by", ["a call", "a turn"])
async def test_the_peers_toolkit_keeps_64_messages_in_any_session(by: str) -> None:
    async with covey.open("memory:") as space:
        coder, critic = await space.join("coder"), await space.join("critic")
        for n in range(PEERS_INBOX_CAPACITY + 6):
            await critic.send("coder", f"early {n}")
        tools = coder.tools("peers")
        if by == "a call":
            await tools.call("list_peers")
        else:
            async with coder.turn(**tools.showing):
                pass
        assert len(await coder.inbox.peek()) == PEERS_INBOX_CAPACITY
        for n in range(PEERS_INBOX_CAPACITY):
            await critic.send("coder", f"late {n}")
        assert [item.text for item in await coder.inbox.peek()] == [f"late {n}" for n in range(PEERS_INBOX_CAPACITY)]
