"""Waits: recorded blocking of an agent on another's answer or task, and the detection of cycles.

An answer with a waiter goes to the waiter, and not to the reader of the inbox. Otherwise an answer would arrive twice
in a program that waits for it and reads its inbox meanwhile. The waiter settles the delivery when it takes the answer;
if the waiter gives up, the answer is left to the inbox."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from covey.core.coroutine import Complete
from covey.core.errors import CoveyError, WaitCircle
from covey.core.identity import AddressKind, Grade, Identity
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.ledger.waits import Awaited, Edge, Wait, WaitWalk, end_of_wait
from covey.core.names import AgentName, MessageId, SessionId, TicketId, inbox_topic, session_inbox, ticket_message
from covey.core.work.task import Task, task_at
from covey.ports.clock import Clock
from covey.ports.directory import Liveness
from covey.ports.store import Store, Transaction
from covey.ports.work import TaskFilter
from covey.services.act import Act
from covey.services.directory.presence import is_live
from covey.services.mail.notices import is_notice_of
from covey.services.mail.recipients import SendPolicy
from covey.services.records import known_message

MOST_TASKS = 10_000


async def begin_wait(
    act: Act, message: Message, tickets: Sequence[Ticket], policy: SendPolicy, liveness: Liveness
) -> None:
    """Record that the sender of a question or a task waits for the outcome. Raise WaitCircle if that would close a
    cycle. This is part of the commit that accepts the message, so that of two such waits only one can pass."""
    graph = WaitGraph(act.tx, liveness, act.now, message.thread)
    sender, blocked = message.sender, policy.waits or 0.0
    # A person can answer, even while a command of theirs waits.
    blocks = blocked > 0 and not sender.is_operator
    if message.kind is Kind.TASK and blocks:
        task = await act.tx.tasks.get(message.id)
        if task is not None and not task.is_finished:
            wait = graph.wait(sender, task.id, blocked)
            await graph.begin(wait, await graph.of_task(sender.agent, task, None))
    for ticket in tickets:
        if ticket.state is TicketState.OPEN and ticket.trouble is None:
            wait = graph.wait(sender, ticket.id, max(blocked, policy.takes))
            wait = wait._replace(blocks=blocks, takes_questions=policy.takes_questions)
            await graph.begin(wait, [_edge(ticket, None)])


class WaitGraph:
    """The wait graph at one time, as seen by a message of one thread: a question back within that thread closes no
    cycle."""

    def __init__(self, tx: Transaction, liveness: Liveness, now: datetime, thread: MessageId | None) -> None:
        self._tx = tx
        self._liveness = liveness
        self._now = now
        self._thread = thread

    def wait(self, asker: Identity, what: Awaited, seconds: float) -> Wait:
        """Return a wait that begins now."""
        return Wait(asker.agent, what, asker.session, self._now, end_of_wait(self._now, seconds))

    async def begin(self, wait: Wait, first: Sequence[Edge]) -> None:
        """Record a wait. Raise WaitCircle if it would close a cycle."""
        mine = await self._tx.waits.of(wait.asker)
        if wait.blocks:
            await self._check(wait, first, mine)
        for old in mine:
            if not old.takes_at(self._now):
                await self._tx.waits.remove(old.asker, old.what)
        await self._tx.waits.put(wait)

    async def _check(self, wait: Wait, first: Sequence[Edge], mine: Sequence[Wait]) -> None:
        is_free = await self._is_free(wait.asker, (wait, *mine))
        due = await self._due(wait.session) if is_free and wait.session is not None else None
        if not is_free or due is not None:
            circle = await self._circle(wait.asker, first, due)
            if circle:
                raise WaitCircle([edge.waiter for edge in circle], [str(edge) for edge in circle[1:]])
        if not is_free and any(edge.awaited == wait.asker for edge in first):
            await self._check_own(wait, mine)

    async def _circle(self, asker: AgentName, first: Sequence[Edge], due: TicketId | None) -> Sequence[Edge]:
        """Return the cycle that a wait would close. With `due`, other sessions of the asker can do everything else that
        is awaited from it."""
        walk = WaitWalk(asker, first)
        while (agent := walk.next()) is not None:
            edges = await self._of_agent(agent, walk.came_by(agent))
            walk.feed(edge for edge in edges if due is None or edge.awaited != asker or edge.what == due)
        return walk.circle

    async def _due(self, session: SessionId) -> TicketId | None:
        """Return the ticket that only this session can answer: its result, if it is a child."""
        run = await self._tx.runs.of_session(session)
        return None if run is None or run.has_ended else run.ticket

    async def _child(self, edge: Edge) -> SessionId | None:
        """Return the child whose result an edge waits for; None if it waits for something else."""
        request = None if edge.is_task else await self._tx.messages.get(ticket_message(TicketId(edge.what)))
        if request is None or [address.kind for address in request.to] != [AddressKind.SESSION]:
            return None
        session = SessionId(request.to[0].value)
        return session if await self._due(session) == edge.what else None

    async def _check_own(self, about_to: Wait, mine: Sequence[Wait]) -> None:
        """Raise WaitCircle if a session is about to wait for its own agent while all other sessions of that agent wait
        for it too: for example a parent and a child of the same agent."""
        agent, session = about_to.asker, about_to.session
        theirs = [wait for wait in mine if wait.session != session and await self.holds(wait)]
        edges = {wait.session: edge for wait in theirs for edge in await self.of_wait(wait) if edge.awaited == agent}
        sessions = await self._tx.sessions.of_agent(agent)
        others = [s.id for s in sessions if s.id != session and is_live(s, self._liveness, self._now)]
        if edges and all(other in edges for other in others):
            raise WaitCircle([agent], [str(edge) for edge in edges.values()])

    async def _of_agent(self, agent: AgentName, came_by: Edge) -> Sequence[Edge]:
        """Return the edges to the agents that an agent waits for. There are none if one of its sessions can still
        answer, unless the edge waits for a child's result, which only that child can give."""
        waits = [wait for wait in await self._tx.waits.of(agent) if await self.holds(wait)]
        if waits and await self._is_free(agent, waits):
            child = await self._child(came_by)
            waits = [] if child is None else [wait for wait in waits if wait.session == child]
        return [edge for wait in waits for edge in await self.of_wait(wait)]

    async def of_wait(self, wait: Wait) -> Sequence[Edge]:
        """Return the edges of a wait: to the debtor of the answer, or to the agents of the task and its parts."""
        if "@" in wait.what:
            ticket = await self._tx.tickets.get(TicketId(wait.what))
            # After a question back it is the asker's turn.
            if ticket is None or ticket.state is not TicketState.OPEN or ticket.awaits or ticket.thread == self._thread:
                return ()
            return (_edge(ticket, wait),)
        task = await self._tx.tasks.get(MessageId(wait.what))
        if task is None or task_at(task, self._now).is_finished or await self._is_here(task):
            return ()
        return await self.of_task(wait.asker, task, wait)

    async def of_task(self, waiter: AgentName, task: Task, wait: Wait | None) -> Sequence[Edge]:
        """Return the edges to the agent of a task, and to the agents of unfinished tasks that were delegated from
        it."""
        edges = [Edge(waiter, task.agent, task.id, task.created_at, wait and wait.until)]
        ahead = [task]
        while ahead:
            parent = ahead.pop()
            for part in await self._tx.tasks.children(parent.id):
                if not task_at(part, self._now).is_finished:
                    edges.append(Edge(parent.agent, part.agent, part.id, part.created_at))
                    ahead.append(part)
        return edges

    async def holds(self, wait: Wait) -> bool:
        """Tell whether the waiter still waits and does nothing else."""
        return wait.blocks and await self.is_there(wait)

    async def is_there(self, wait: Wait) -> bool:
        """Tell whether the waiter still waits: the timeout has not passed, and its session is live."""
        if wait.until <= self._now:
            return False
        session = await self._tx.sessions.get(wait.session) if wait.session is not None else None
        return wait.session is None or (session is not None and is_live(session, self._liveness, self._now))

    async def _is_free(self, agent: AgentName, waits: Sequence[Wait]) -> bool:
        waiting = {wait.session for wait in waits if wait.blocks and wait.until > self._now}
        sessions = await self._tx.sessions.of_agent(agent)
        return any(s.id not in waiting and is_live(s, self._liveness, self._now) for s in sessions)

    async def _is_here(self, task: Task) -> bool:
        message = await self._tx.messages.get(task.id)
        return message is not None and message.thread == self._thread


class WaitRegistry:
    def __init__(self, store: Store, clock: Clock, liveness: Liveness, complete: Complete) -> None:
        self._store = store
        self._clock = clock
        self._liveness = liveness
        self._complete = complete

    async def begin(
        self,
        ticket_id: TicketId,
        actor: Identity,
        seconds: float,
        *,
        blocks: bool = True,
        takes_questions: bool = False,
    ) -> None:
        """Record that the actor goes on waiting for the answer to an earlier question. Raise WaitCircle if that would
        close a cycle; a wait that does not block closes none."""

        async def operation(tx: Transaction) -> None:
            ticket = await tx.tickets.get(ticket_id)
            if ticket is not None and ticket.state is TicketState.OPEN and ticket.asker == actor.agent:
                graph = WaitGraph(tx, self._liveness, self._clock.now(), ticket.thread)
                wait = graph.wait(actor, ticket.id, seconds)
                wait = wait._replace(blocks=blocks and not actor.is_operator, takes_questions=takes_questions)
                await graph.begin(wait, [_edge(ticket, None)])

        await self._store.commit(operation)

    async def end(self, what: Awaited, actor: Identity) -> None:
        """Record that the actor no longer waits: an answer that has arrived meanwhile is left to the inbox. Light,
        because a power cut ends waits as well."""

        await self._store.commit(lambda tx: _end(tx, what, actor), is_light=True)

    async def end_all(self, question: MessageId, actor: Identity) -> None:
        """Record that the actor no longer waits for any answer to a question. Light, as `end` is."""

        async def operation(tx: Transaction) -> None:
            for wait in await tx.waits.of(actor.agent):
                if "@" in wait.what and ticket_message(TicketId(wait.what)) == question:
                    await _end(tx, wait.what, actor)

        await self._store.commit(operation, is_light=True)

    async def give_up(self, what: Awaited, actor: Identity) -> None:
        """End the wait of a caller that was interrupted, also if the caller is cancelled once more. If the store can't
        be written now, the wait runs out by itself."""
        with suppress(CoveyError):
            await self._complete(self.end(what, actor))

    async def give_up_all(self, question: MessageId, actor: Identity) -> None:
        """End all waits for the answers to a question, as `give_up` does for one."""
        with suppress(CoveyError):
            await self._complete(self.end_all(question, actor))

    async def graph(self) -> Sequence[Edge]:
        """Return the dependencies between agents, oldest first: the blocking waits, and besides them the open tickets
        and unfinished tasks that are not waited for."""

        async def operation(tx: Transaction) -> Sequence[Edge]:
            now = self._clock.now()
            graph = WaitGraph(tx, self._liveness, now, None)
            edges = [e for wait in await tx.waits.all() if await graph.holds(wait) for e in await graph.of_wait(wait)]
            waited = {(edge.waiter, edge.what) for edge in edges}
            for debtor in await tx.tickets.debtors():
                for ticket in await tx.tickets.owed_by(debtor):
                    if ticket.state is TicketState.OPEN and not ticket.awaits and ticket.trouble is None:
                        edges.append(_edge(ticket, None))
            for task in await tx.tasks.find(TaskFilter(is_finished=False), MOST_TASKS):
                if not task_at(task, now).is_finished:
                    edges.append(Edge(task.delegator, task.agent, task.id, task.created_at))
            known = [e for e in edges if e.is_wait or (e.waiter, e.what) not in waited]
            return sorted(known, key=lambda edge: (edge.since, edge.what))

        return await self._store.read(operation, is_long=True)


async def _end(tx: Transaction, what: Awaited, actor: Identity) -> None:
    await tx.waits.remove(actor.agent, what)
    if actor.session is not None:
        tx.ring(inbox_topic(session_inbox(actor.session)))


def _edge(ticket: Ticket, wait: Wait | None) -> Edge:
    return Edge(ticket.asker, ticket.debtor, ticket.id, wait.since if wait else ticket.opened_at, wait and wait.until)


async def without_awaited(
    tx: Transaction, deliveries: Sequence[DeliveryRecord], agent: AgentName, now: datetime
) -> Sequence[DeliveryRecord]:
    """Return the deliveries that are for the readers of the agent's inbox. An agent that waits for nothing costs one
    small read."""
    tickets = await _tickets(tx, agent, now)
    if not tickets:
        return deliveries
    kept: list[DeliveryRecord] = []
    for delivery in deliveries:
        if not _is_given(await known_message(tx, delivery.message_id), tickets):
            kept.append(delivery)
    return kept


async def is_awaited(tx: Transaction, message: Message, agent: AgentName, now: datetime) -> bool:
    """Tell whether a session of the agent waits for the message."""
    return may_be_awaited(message) and _is_given(message, await _tickets(tx, agent, now))


def may_be_awaited(message: Message) -> bool:
    """Tell whether the message is of a kind that a session can wait for: an answer, a question back or a notice."""
    return message.in_reply_to is not None and (
        message.kind in (Kind.RESPONSE, Kind.REQUEST) or message.sender.grade is Grade.SPACE
    )


async def _tickets(tx: Transaction, agent: AgentName, now: datetime) -> Sequence[tuple[Wait, Ticket]]:
    """Return the agent's tickets with a live wait."""
    found: list[tuple[Wait, Ticket]] = []
    for wait in await tx.waits.of(agent):
        if "@" in wait.what and wait.takes_at(now) and await _is_open(tx, wait):
            ticket = await tx.tickets.get(TicketId(wait.what))
            if ticket is not None:
                found.append((wait, ticket))
    return found


async def _is_open(tx: Transaction, wait: Wait) -> bool:
    session = await tx.sessions.get(wait.session) if wait.session is not None else None
    return wait.session is None or (session is not None and session.ended_at is None)


def _is_given(message: Message, waiting: Sequence[tuple[Wait, Ticket]]) -> bool:
    return any(
        ticket.answer == message.id
        or is_notice_of(message, ticket)
        or (wait.takes_questions and ticket.awaits is not None and ticket_message(ticket.awaits) == message.id)
        for wait, ticket in waiting
    )
