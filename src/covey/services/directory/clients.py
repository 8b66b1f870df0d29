"""Clients: one session per running agent client, whether its MCP server or one of its hooks starts first."""

from typing import NamedTuple

from covey.core.authority import check_as
from covey.core.directory.session import Holder, Session, SessionKind, client_of
from covey.core.errors import BeyondToken, IdentityRefused, SessionEnded, SessionUnknown
from covey.core.identity import Grade, Identity
from covey.core.ledger.delivery import DeliveryState, state_at
from covey.core.ledger.offer import Presentation
from covey.core.names import AgentName
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.services.attention.offers import shown_states
from covey.services.directory.directory import FRESH, Directory, JoinRequest
from covey.services.records import own_session
from covey.services.tasks.open_tasks import open_tasks

FEW = 64
"""The number of offered deliveries that are searched for an expired lease."""


class ClientSession(NamedTuple):
    """The session that a program of a client acts from."""

    session: Session
    identity: Identity
    is_own: bool
    """True if this program made the session, and ends it; False if a shell or another program did."""


class Clients:
    """Sessions of agent clients. With a `holder`, all clients belong to the agent of its token."""

    def __init__(
        self, store: Store, clock: Clock, liveness: Liveness, directory: Directory, holder: Identity | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        self._liveness = liveness
        self._directory = directory
        self._holder = holder
        self._name = None if holder is None else holder.agent
        self._grade = Grade.SESSION if holder is None else Grade.TOKEN

    async def serve(self, wish: JoinRequest, inherited: Identity | None = None) -> ClientSession:
        """Return the session that the MCP server in this process acts from: the inherited one, the one that its client
        has already, or a new one. Two servers never share a session, because one client process may run several
        agents."""
        if inherited is not None:
            self._check_own(inherited)
        client = client_of(self._liveness.ancestors())
        server = self._liveness.hold()
        wish = wish._replace(kind=SessionKind.ATTACHED)
        minted = self._directory.mint(wish, _both(server, client))

        async def operation(tx: Transaction) -> ClientSession:
            found = await self._free(tx, inherited) if inherited else None
            if found is None:
                found = await self._of_client(tx, client, wish.name, is_free=True)
            if found is None:
                joined = await self._directory.admit(tx, wish, minted)
                return ClientSession(joined.session, joined.identity, is_own=True)
            if found.holder.process is not None:
                found = found._replace(holder=_both(server, found.holder), seen_at=self._clock.now())
                await tx.sessions.put(found)
            return self._seated(found, is_own=found.kind is SessionKind.ATTACHED and found.holder.lock == server.lock)

        return await self._store.commit(operation, is_long=True)

    async def hook(self, wish: JoinRequest) -> ClientSession:
        """Return the session that a hook of a client acts from: the one that the client has already, or a new one. From
        then on the session lives as long as the client, and its hooks show its mail."""
        client = client_of(self._liveness.ancestors())
        if client is None:
            raise IdentityRefused("the process that started this one can't be found")
        wish = wish._replace(kind=SessionKind.CLIENT)
        minted = self._directory.mint(wish, client)

        async def look(tx: Transaction) -> Session | None:
            return await self._of_client(tx, client, wish.name)

        async def operation(tx: Transaction) -> ClientSession:
            found = await look(tx) or (await self._directory.admit(tx, wish, minted)).session
            now = self._clock.now()
            hooked = found._replace(kind=SessionKind.CLIENT, hooked_at=found.hooked_at or now, seen_at=now)
            await tx.sessions.put(hooked)
            return self._seated(hooked, is_own=False)

        known = await self._store.read(look)
        if known is None or known.hooked_at is None:
            return await self._store.commit(operation, is_long=True)
        seated = self._seated(known, is_own=False)
        await self._directory.touch(seated.identity)
        return seated

    async def remote(self, wish: JoinRequest) -> ClientSession:
        """Return the session of a client on another machine that comes through the server in this process: the one with
        the requested label, or a new one. It ends with its lease, or with the server."""
        server = self._liveness.hold()
        wish = wish._replace(kind=SessionKind.LEASED, name=wish.name or self._name)
        minted = self._directory.mint(wish, server)

        async def operation(tx: Transaction) -> ClientSession:
            labelled = await tx.sessions.with_label(wish.label) if wish.label else ()
            for session in labelled:
                if session.agent == wish.name and session.kind is SessionKind.LEASED and self._is_free(session, server):
                    again = session._replace(holder=server, seen_at=self._clock.now())
                    await tx.sessions.put(again)
                    return self._seated(again, is_own=True)
            joined = await self._directory.admit(tx, wish, minted)
            return ClientSession(joined.session, joined.identity, is_own=True)

        return await self._store.commit(operation, is_long=True)

    async def release(self, seated: ClientSession) -> None:
        """Note that a server no longer acts for a session. A session of the server's own ends, unless a hook uses
        it."""
        self._check_own(seated.identity)

        async def operation(tx: Transaction) -> bool:
            session = await tx.sessions.get(seated.session.id)
            if session is None or session.has_ended or session.kind is not SessionKind.CLIENT:
                return seated.is_own
            if session.holder.lock == seated.session.holder.lock:
                await tx.sessions.put(session._replace(holder=session.holder._replace(lock=None)))
            return False

        if await self._store.commit(operation):
            await self._directory.leave(seated.identity)

    async def seen(self, actor: Identity) -> None:
        """Record a sign of life of a session if the last one is not fresh. Raise SessionEnded if the session is over.
        The leases of its offers are not renewed: mail that a dead server showed must be shown again."""
        self._check_own(actor)

        async def look(tx: Transaction) -> bool:
            session = await own_session(tx, actor)
            return self._clock.now() - session.seen_at >= session.lease * FRESH

        async def operation(tx: Transaction) -> None:
            await tx.sessions.put((await own_session(tx, actor))._replace(seen_at=self._clock.now()))

        if await self._store.read(look):
            await self._store.commit(operation)

    async def lacks_mail(self, actor: Identity, presentation: Presentation, *, takes_tasks: bool = False) -> bool:
        """Tell whether mail waits that only a server can show to the client's model, because the client has no hooks.
        If the model takes tasks, tasks that wait for a session count too."""

        async def operation(tx: Transaction) -> bool:
            session = await own_session(tx, actor)
            if session.hooked_at is not None:
                return False
            if await tx.inboxes.waiting(session.inbox, shown_states(presentation), limit=1):
                return True
            offered = await tx.inboxes.waiting(session.inbox, {DeliveryState.OFFERED}, limit=FEW)
            now = self._clock.now()
            if any(state_at(delivery, now) is DeliveryState.QUEUED for delivery in offered):
                return True
            return takes_tasks and bool(await open_tasks(tx, session.agent, now, 1, is_to_show=True))

        return await self._store.read(operation)

    async def _of_client(
        self, tx: Transaction, client: Holder | None, name: AgentName | None, *, is_free: bool = False
    ) -> Session | None:
        """Return the oldest session of a client process, of the named agent if any. With `is_free`, only a session for
        which no server acts."""
        name = name or self._name
        for session in await tx.sessions.current() if client else ():
            if session.holder.process == client and session.kind is not SessionKind.LEASED:
                is_wanted = name is None or session.agent == name
                if is_wanted and (not is_free or self._is_free(session)):
                    return session
        return None

    async def _free(self, tx: Transaction, inherited: Identity) -> Session | None:
        """Return an inherited session, unless it is over or another server acts for it."""
        try:
            session = await own_session(tx, inherited)
        except (SessionEnded, SessionUnknown):
            return None
        is_taken = session.kind is SessionKind.CLIENT and not self._is_free(session)
        return None if is_taken else session

    def _check_own(self, actor: Identity) -> None:
        if self._holder is not None:
            check_as(self._holder, actor.agent, "act as")

    def _is_free(self, session: Session, mine: Holder | None = None) -> bool:
        server = session.holder.server
        return server is None or server == mine or not self._liveness.is_held(server)

    def _seated(self, session: Session, *, is_own: bool) -> ClientSession:
        if self._name is not None and session.agent != self._name:
            raise BeyondToken(self._name, f"act as {session.agent}")
        return ClientSession(session, Identity(session.agent, session.id, self._grade), is_own)


def _both(server: Holder, client: Holder | None) -> Holder:
    """Return a holder with the server's lock and the client's process."""
    return server if client is None else client._replace(lock=server.lock)
