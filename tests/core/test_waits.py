"""The wait-for graph: a walk finds exactly the circle that one more wait would close."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import Invalid
from covey.core.ledger.waits import LONGEST_WAIT, Edge, WaitWalk, circles, end_of_wait
from covey.core.names import AgentName, MessageId, TicketId

NOW = datetime(2026, 1, 1, tzinfo=UTC)
names = st.sampled_from([AgentName(name) for name in "abcdefgh"])
graphs = st.lists(st.tuples(names, names), max_size=20)


def edge(waiter: str, awaited: str) -> Edge:
    return Edge(AgentName(waiter), AgentName(awaited), TicketId(f"1-{waiter}@{awaited}"), NOW, NOW)


def walked(edges: Sequence[Edge], first: Edge) -> tuple[WaitWalk, Sequence[AgentName]]:
    """Walk as a service does. Return the walk, and the agents whose waits were asked for."""
    by_waiter: dict[AgentName, list[Edge]] = {}
    for one in edges:
        by_waiter.setdefault(one.waiter, []).append(one)
    walk, asked = WaitWalk(first.waiter, [first]), list[AgentName]()
    while (agent := walk.next()) is not None:
        asked.append(agent)
        walk.feed(by_waiter.get(agent, ()))
    return walk, asked


def reachable(edges: Sequence[Edge], start: AgentName) -> set[AgentName]:
    found = {start}
    while more := {e.awaited for e in edges if e.waiter in found} - found:
        found |= more
    return found


def test_the_circle_begins_with_the_new_wait_and_leads_back_to_its_waiter() -> None:
    walk, _ = walked([edge("b", "c"), edge("c", "d"), edge("b", "x"), edge("d", "a")], edge("a", "b"))
    assert [(e.waiter, e.awaited) for e in walk.circle] == [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]


def test_an_agent_that_waits_for_another_of_its_sessions_closes_no_circle() -> None:
    walk, _ = walked([edge("a", "a"), edge("b", "b")], edge("a", "a"))
    assert not walk.circle


def test_the_text_of_a_wait_names_the_waiter_the_awaited_agent_and_the_object() -> None:
    assert str(edge("b", "c")) == "b waits for c (ticket 1-b@c)"
    assert str(edge("b", "c")._replace(what=MessageId("1-x"))) == "b waits for c (task 1-x)"


@given(graphs, names, names)
def test_a_circle_is_found_if_the_awaited_agent_leads_back_and_each_agent_is_asked_once(
    pairs: list[tuple[AgentName, AgentName]], asker: AgentName, awaited: AgentName
) -> None:
    edges, first = [edge(*pair) for pair in pairs], edge(asker, awaited)
    walk, asked = walked(edges, first)
    assert len(asked) == len(set(asked))
    assert bool(walk.circle) == (asker != awaited and asker in reachable(edges, awaited))
    if walk.circle:
        assert (walk.circle[0], walk.circle[-1].awaited) == (first, asker)
        assert all(one.awaited == then.waiter for one, then in zip(walk.circle, walk.circle[1:], strict=False))
        assert {*walk.circle} <= {first, *edges}


@given(graphs)
def test_an_edge_is_in_a_circle_if_its_end_leads_back(pairs: list[tuple[AgentName, AgentName]]) -> None:
    edges = [edge(*pair) for pair in pairs]
    ways: Mapping[AgentName, set[AgentName]] = {e.awaited: reachable(edges, e.awaited) for e in edges}
    assert [*circles(edges)] == [e for e in edges if e.waiter != e.awaited and e.waiter in ways[e.awaited]]


def test_a_long_chain_is_no_circle_and_takes_no_recursion() -> None:
    chain = [edge(f"a{n}", f"a{n + 1}") for n in range(20_000)]
    assert not circles(chain)
    assert len(circles([*chain, edge("a20000", "a0")])) == 20_001


@given(st.floats(allow_nan=False))
def test_a_wait_of_any_number_of_seconds_ends_between_now_and_the_longest_wait(seconds: float) -> None:
    assert NOW <= end_of_wait(NOW, seconds) <= NOW + timedelta(seconds=LONGEST_WAIT)


def test_a_wait_of_seconds_that_are_not_a_number_is_invalid() -> None:
    with pytest.raises(Invalid):
        end_of_wait(NOW, nan)
