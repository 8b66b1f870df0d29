"""Contract of sessions."""

from collections.abc import Sequence

from covey.core.capacity import Capacity, Overflow
from covey.core.names import AgentName, Label
from covey.core.session import Activity, Holder, Session, SessionKind
from covey.core.session_key import main_key
from covey.ports.store import Transaction
from covey.testing.contracts.kept import each, kept
from covey.testing.opening import OpenStore
from covey.testing.records import a_session, a_session_id, at

BOB = AgentName("bob")


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
    """Return the sessions that a test has put: a folder may have sessions of foreign programs besides."""
    return [session for session in sessions if not session.is_foreign]
