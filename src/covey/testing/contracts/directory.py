"""Contracts of agents, sessions, tokens and settings."""

import asyncio
from collections.abc import Sequence

from covey.core.directory.card import Agent, Capacity, Card, Overflow, TaskOverflow
from covey.core.directory.session import Activity, Holder, Session, SessionKind
from covey.core.identity import main_key
from covey.core.names import AgentName, Label
from covey.ports.store import Transaction
from covey.testing.contracts.tables import each, kept
from covey.testing.factories import OpenStore, silent
from covey.testing.records import START, a_session, a_session_id, a_token, an_agent, at

BOB = AgentName("bob")
EVE = AgentName("eve")

FULL_CARD = Card(
    description="reviews code\nin two languages: ä, 語",
    capabilities=("review", "test"),
    allow_from=("alice", "eve"),
    allowed_delegates=(),
    quota=1,
    overflow=TaskOverflow.REJECT,
    workspace="/home/bob",
    command=("bob", "--serve"),
    capacity=Capacity(3, Overflow.EVICT_OLDEST),
)


class AgentsContract:
    """Fixture: `open_store`."""

    async def test_an_agent_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        agent = an_agent(card=FULL_CARD, status="reviewing")
        assert await kept(open_store, lambda tx: tx.agents.put(agent), lambda tx: tx.agents.get(BOB)) == agent

    async def test_an_agent_that_nobody_put_is_none(self, open_store: OpenStore) -> None:
        assert await kept(open_store, lambda tx: tx.agents.put(an_agent()), lambda tx: tx.agents.get(EVE)) is None

    async def test_names_differ_by_case(self, open_store: OpenStore) -> None:
        found = await kept(
            open_store, lambda tx: tx.agents.put(an_agent("Bob")), lambda tx: tx.agents.get(AgentName("bob"))
        )
        assert found is None

    async def test_putting_again_replaces_what_is_known(self, open_store: OpenStore) -> None:
        later = an_agent(status="away")
        found = await kept(open_store, lambda tx: each(tx.agents.put, an_agent(), later), lambda tx: tx.agents.get(BOB))
        assert found == later

    async def test_all_agents_are_given_by_name(self, open_store: OpenStore) -> None:
        agents = [an_agent(name) for name in ("zoe", "Al", "bob", "_x", "-y", "eve")]
        found = await kept(open_store, lambda tx: each(tx.agents.put, *agents), lambda tx: tx.agents.all())
        assert [*found] == sorted(agents, key=_name)

    async def test_numbers_count_from_one_for_each_agent(self, open_store: OpenStore) -> None:
        async def count(transaction: Transaction) -> list[int]:
            await each(transaction.agents.put, an_agent("bob"), an_agent("eve"))
            return [await transaction.agents.next_number(name) for name in (BOB, BOB, EVE, BOB, EVE)]

        async with open_store(silent) as store:
            assert await store.commit(count) == [1, 2, 1, 3, 2]

    async def test_several_numbers_are_given_at_once(self, open_store: OpenStore) -> None:
        async def count(transaction: Transaction) -> list[int]:
            await transaction.agents.put(an_agent())
            return [await transaction.agents.next_number(BOB, count) for count in (1, 5, 2, 1)]

        async with open_store(silent) as store:
            assert await store.commit(count) == [1, 2, 7, 9]
            assert await store.commit(lambda tx: tx.agents.next_number(BOB)) == 10

    async def test_numbers_go_on_when_the_agent_is_put_again(self, open_store: OpenStore) -> None:
        async def count(transaction: Transaction) -> int:
            await transaction.agents.put(an_agent())
            return await transaction.agents.next_number(BOB)

        async with open_store(silent) as store:
            assert [await store.commit(count) for _ in range(3)] == [1, 2, 3]

    async def test_each_number_is_given_once_to_concurrent_commits(self, open_store: OpenStore) -> None:
        async with open_store(silent) as store:
            await store.commit(lambda tx: tx.agents.put(an_agent()))
            numbers = await asyncio.gather(*(store.commit(lambda tx: tx.agents.next_number(BOB)) for _ in range(50)))
        assert sorted(numbers) == list(range(1, 51))


def _name(agent: Agent) -> str:
    return agent.name


class SessionsContract:
    """Fixture: `open_store`."""

    async def test_a_session_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        session = a_session(label="night.shift")._replace(
            kind=SessionKind.CLIENT,
            holder=Holder(lock="a-lock", pid=4711, started="123456"),
            seen_at=at(0.000001),
            activity=Activity.BUSY,
            capacity=Capacity(64, Overflow.FIRST_IN_FIRST_OUT),
            hooked_at=at(0.5),
            status="Working on the parser",
        )
        found = await kept(open_store, lambda tx: tx.sessions.put(session), lambda tx: tx.sessions.get(session.id))
        assert found == session

    async def test_a_session_that_nobody_put_is_none(self, open_store: OpenStore) -> None:
        found = await kept(
            open_store, lambda tx: tx.sessions.put(a_session(1)), lambda tx: tx.sessions.get(a_session_id(2))
        )
        assert found is None

    async def test_an_ended_session_is_still_found_by_id(self, open_store: OpenStore) -> None:
        ended = a_session(ended_at=at(5))
        found = await kept(
            open_store, lambda tx: each(tx.sessions.put, a_session(), ended), lambda tx: tx.sessions.get(ended.id)
        )
        assert found == ended

    async def test_the_sessions_of_an_agent_are_given_oldest_first(self, open_store: OpenStore) -> None:
        young, old, other = a_session(1, joined_at=at(9)), a_session(2, joined_at=at(3)), a_session(3, agent="eve")
        found = await kept(
            open_store,
            lambda tx: each(tx.sessions.put, young, other, old),
            lambda tx: tx.sessions.of_agent(BOB),
        )
        assert [*found] == [old, young]

    async def test_sessions_that_joined_at_one_time_keep_the_order_of_joining(self, open_store: OpenStore) -> None:
        sessions = [a_session(n) for n in (3, 1, 2)]
        again = sessions[0]._replace(seen_at=at(1))
        found = await kept(
            open_store,
            lambda tx: each(tx.sessions.put, *sessions, again),
            lambda tx: tx.sessions.current(),
        )
        assert [session.id for session in _native(found)] == [session.id for session in sessions]

    async def test_ended_sessions_are_in_no_list(self, open_store: OpenStore) -> None:
        ended = a_session(label="x", ended_at=at(5))

        async def lists(transaction: Transaction) -> list[object]:
            sessions = transaction.sessions
            return [
                *await sessions.of_agent(BOB),
                *await sessions.with_key(ended.key),
                *await sessions.with_label(Label("x")),
                *_native(await sessions.current()),
            ]

        live = a_session(label="x")
        assert await kept(open_store, lambda tx: each(tx.sessions.put, live, ended), lists) == []

    async def test_sessions_are_found_by_their_key(self, open_store: OpenStore) -> None:
        child = a_session(2, key=main_key(BOB).child(a_session_id(2)))
        found = await kept(
            open_store,
            lambda tx: each(tx.sessions.put, a_session(1), child),
            lambda tx: tx.sessions.with_key(main_key(BOB)),
        )
        assert [*found] == [a_session(1)]

    async def test_sessions_with_one_key_are_given_oldest_first(self, open_store: OpenStore) -> None:
        key = main_key(BOB)
        young, old = a_session(1, key=key, joined_at=at(9)), a_session(2, key=key, joined_at=at(3))
        found = await kept(
            open_store, lambda tx: each(tx.sessions.put, young, old), lambda tx: tx.sessions.with_key(key)
        )
        assert [*found] == [old, young]

    async def test_sessions_are_found_by_their_label_oldest_first(self, open_store: OpenStore) -> None:
        young, old = a_session(1, label="x", joined_at=at(9)), a_session(2, agent="eve", label="x", joined_at=at(3))
        found = await kept(
            open_store,
            lambda tx: each(tx.sessions.put, young, old, a_session(3, label="y"), a_session(4)),
            lambda tx: tx.sessions.with_label(Label("x")),
        )
        assert [*found] == [old, young]

    async def test_a_changed_label_is_the_only_one(self, open_store: OpenStore) -> None:
        found = await kept(
            open_store,
            lambda tx: each(tx.sessions.put, a_session(label="x"), a_session(label="y")),
            lambda tx: tx.sessions.with_label(Label("x")),
        )
        assert [*found] == []

    async def test_current_sessions_are_those_of_all_agents_oldest_first(self, open_store: OpenStore) -> None:
        young, old = a_session(1, joined_at=at(9)), a_session(2, agent="eve", joined_at=at(3))
        found = await kept(open_store, lambda tx: each(tx.sessions.put, young, old), lambda tx: tx.sessions.current())
        assert _native(found) == [old, young]


def _native(sessions: Sequence[Session]) -> Sequence[Session]:
    """Return the sessions that a test has put. A folder may also have sessions of foreign programs."""
    return [session for session in sessions if not session.is_foreign]


class TokensContract:
    """Fixture: `open_store`."""

    async def test_a_token_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: tx.tokens.put(a_token()), lambda tx: tx.tokens.get(a_token().hash))
        assert found == a_token()

    async def test_a_token_that_nobody_put_is_none(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: tx.tokens.put(a_token(1)), lambda tx: tx.tokens.get("hash-2"))
        assert found is None

    async def test_a_revoked_token_is_still_there(self, open_store: OpenStore) -> None:
        revoked = a_token()._replace(revoked_at=at(5))
        found = await kept(
            open_store, lambda tx: each(tx.tokens.put, a_token(), revoked), lambda tx: tx.tokens.get(revoked.hash)
        )
        assert found == revoked

    async def test_all_tokens_are_given_oldest_first(self, open_store: OpenStore) -> None:
        young, old, revoked = a_token(1, created_at=at(9)), a_token(2, created_at=at(3)), a_token(3, created_at=START)
        revoked = revoked._replace(revoked_at=at(1))
        found = await kept(open_store, lambda tx: each(tx.tokens.put, young, old, revoked), lambda tx: tx.tokens.all())
        assert [*found] == [revoked, old, young]


class SettingsContract:
    """Fixture: `open_store`."""

    async def test_a_setting_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        value = "a \u0000 text ' with \" everything\n語 🐦"
        found = await kept(open_store, lambda tx: tx.settings.put("name", value), lambda tx: tx.settings.get("name"))
        assert found == value

    async def test_a_setting_that_was_never_put_is_none(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: tx.settings.put("a", "1"), lambda tx: tx.settings.get("b"))
        assert found is None

    async def test_an_empty_setting_is_not_none(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: tx.settings.put("name", ""), lambda tx: tx.settings.get("name"))
        assert found == ""

    async def test_setting_it_again_replaces_it(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            await transaction.settings.put("name", "old")
            await transaction.settings.put("name", "new")

        assert await kept(open_store, write, lambda tx: tx.settings.get("name")) == "new"
