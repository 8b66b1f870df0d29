"""Attention: the pending mail of a session within a budget, read only or taken as an offer for one showing to a
model."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from covey.core.attention.order import in_order, newest_states, rank_of
from covey.core.attention.pending import (
    ChildNote,
    LeftOut,
    Letter,
    OtherAgent,
    Pending,
    Rank,
    TaskNote,
    Terms,
    WorkNote,
    about_task,
    check_terms,
    task_note,
)
from covey.core.directory.session import Session
from covey.core.errors import MessageDamaged
from covey.core.identity import Identity
from covey.core.ids import InboxId, inbox_topic, parked_inbox, session_inbox
from covey.core.ledger.body import body_of
from covey.core.ledger.delivery import WAITING, Delivery, DeliveryState, Move, state_at
from covey.core.ledger.message import Kind, Message, asks_something
from covey.core.names import AgentName, is_reserved
from covey.core.rendering.budget import fit_letters, fit_others
from covey.core.work.approval import requested
from covey.core.work.task import Task
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift
from covey.services.attention.family import company
from covey.services.attention.offers import Part, make_offer, shown_states
from covey.services.attention.recently_shown import RecentlyShown
from covey.services.care.upkeep import Upkeep
from covey.services.directory.directory import AgentView, agents_now
from covey.services.directory.pauses import is_paused
from covey.services.directory.policies import SUBJECTS_ARE_CATEGORIES, is_on
from covey.services.known import known_agent, known_message, own_session
from covey.services.mail.answers import has_answered
from covey.services.mail.awaited import without_awaited
from covey.services.mail.damage import is_damaged
from covey.services.mail.damage_notices import is_reported, report_damaged
from covey.services.mail.updates import NoticePorts
from covey.services.tasks.claims import take_parked
from covey.services.tasks.open_tasks import NO_TASKS, OpenTasks, fit_tasks, open_tasks, parked_copies
from covey.services.waiting import Waiting


class Choice(NamedTuple):
    """The selection from an inbox that is shown."""

    pending: Pending
    deliveries: Sequence[Delivery]
    """The deliveries of the letters. A delivery that is still parked hands over a task that no session has claimed."""
    outdated: Sequence[tuple[Delivery, Delivery]]
    """Deliveries that are not shown because they tell an older state, each with the newer delivery."""
    damaged: Sequence[Delivery] = ()
    """Deliveries whose message turned out to be damaged and was not reported yet."""


class Seen(NamedTuple):
    """The result of a look at an inbox."""

    choice: Choice
    has_tasks: bool
    """True if tasks wait to be taken or to be ended."""


class Attention:
    def __init__(
        self, store: Store, clock: Clock, desk: NoticePorts, upkeep: Upkeep, waiting: Waiting, lately: RecentlyShown
    ) -> None:
        self._lately = lately
        self._store = store
        self._clock = clock
        self._desk = desk
        self._upkeep = upkeep
        self._waiting = waiting

    async def look(self, actor: Identity, terms: Terms | None = None, timeout: float = 0.0) -> Pending:
        """Return the pending mail of the actor's session, with the tasks that it would take. If no message is pending,
        wait for one up to `timeout` seconds. Nothing is changed."""
        wanted = check_terms(terms or Terms())
        topics = [inbox_topic(parked_inbox(actor.agent))]
        if actor.session is not None:
            topics.append(inbox_topic(session_inbox(actor.session)))

        async def look() -> Pending | None:
            pending = (await self._look(actor, wanted)).choice.pending
            return pending if pending.letters or timeout <= 0 else None

        return await self._waiting.until(topics, look, timeout) or (await self._look(actor, wanted)).choice.pending

    async def take(self, actor: Identity, turn: str, terms: Terms | None = None) -> Pending:
        """Take the pending mail as an offer, to be confirmed or returned. Nothing is written if nothing waits.
        Unclaimed tasks of the agent are claimed as far as they are shown, so that each is shown to one session only."""
        wanted = check_terms(terms or Terms())
        seen = await self._look(actor, wanted)
        if not seen.choice.deliveries and not seen.has_tasks and not seen.choice.damaged:
            return seen.choice.pending

        async def operation(tx: Transaction) -> Pending:
            session = await own_session(tx, actor)
            act = Act(tx, actor, self._clock.now())
            await self._upkeep.mend_inbox(act, session.inbox)
            tasks: Sequence[Task] = ()
            if seen.has_tasks:
                tasks = await fit_tasks(act, session.agent, wanted.limit, self._desk, is_to_show=True)
                await own_session(tx, actor)  # sessions may have been found dead while notices were sent
            # The other agents were read before, so that no writer waits for that read.
            choice = await _choose(tx, session, seen.choice.pending, wanted, act.now, tasks)
            if choice.damaged:
                await report_damaged(act, choice.damaged, self._desk)
            if not choice.deliveries:
                return choice.pending
            for delivery, newer in choice.outdated:
                await _outdate(act, delivery, newer)
            taken = [await take_parked(act, d, session) if d.is_parked else d for d in choice.deliveries]
            parts = [Part(d, letter.extent) for d, letter in zip(taken, choice.pending.letters, strict=True)]
            offer_id = self._desk.ids.offer_id()
            await make_offer(act, offer_id, session, parts, turn, wanted.presentation, wanted.lease)
            return choice.pending._replace(offer=offer_id)

        pending = await self._store.commit(operation, is_long=True)
        self._lately.shown(actor.session, [(letter.sender.agent, letter.message_id) for letter in pending.letters])
        return pending

    async def company(self, actor: Identity) -> Sequence[OtherAgent]:
        """Return the other agents by name, and the children of the actor's family."""

        async def operation(tx: Transaction) -> Sequence[OtherAgent]:
            session = await tx.sessions.get(actor.session) if actor.session else None
            views = await agents_now(tx, self._desk.liveness, self._clock.now())
            return await company(tx, actor.agent, session, views)

        return await self._store.read(operation, is_long=True)

    async def _look(self, actor: Identity, terms: Terms) -> Seen:
        async def operation(tx: Transaction) -> Seen:
            session = await own_session(tx, actor)
            now = self._clock.now()
            views = await agents_now(tx, self._desk.liveness, now)
            found = await _open(tx, session.agent, views, terms, now)
            around = await _around(tx, session, views, terms)
            return Seen(await _choose(tx, session, around, terms, now, found.fit), bool(found))

        return await self._store.read(operation, is_long=True)


async def _open(
    tx: Transaction, agent: AgentName, views: Sequence[AgentView], terms: Terms, now: datetime
) -> OpenTasks:
    """Return the tasks that a session of the agent can take, if its reader has a way to handle tasks. An agent without
    tasks costs one small read."""
    is_busy = any(view.current_tasks for view in views if view.name == agent)
    if not terms.ways.task or not (is_busy or await tx.tasks.pending(agent, 1)):
        return NO_TASKS
    return await open_tasks(tx, agent, now, terms.limit, is_to_show=True)


async def _around(tx: Transaction, session: Session, views: Sequence[AgentView], terms: Terms) -> Pending:
    """Return a `Pending` without letters: the other agents, and whether the session's agent has announced its
    status."""
    status = (await known_agent(tx, session.agent)).status if session.key.is_main else session.status
    pending = Pending(
        session.agent,
        others=tuple(await company(tx, session.agent, session, views)),
        has_announced=status is not None,
        presentation=terms.presentation,
        ways=terms.ways,
    )
    return fit_others(pending, terms.budget)


async def _choose(
    tx: Transaction, session: Session, around: Pending, terms: Terms, now: datetime, tasks: Sequence[Task]
) -> Choice:
    """Choose the mail from a session's inbox, and the tasks that it can take, that fit the budget. A paused agent is
    shown nothing."""
    if await is_paused(tx, session.agent):
        return Choice(around._replace(letters=(), left_out=LeftOut()), (), ())
    mine = await without_awaited(tx, await _waiting(tx, session.inbox), session.agent, now)
    waiting = [*mine, *await parked_copies(tx, tasks, now)]
    states = shown_states(terms.presentation)
    kept, outdated = newest_states([d for d in waiting if state_at(d, now) in states])
    if outdated and await is_on(tx, SUBJECTS_ARE_CATEGORIES):
        kept, outdated = [d for d in waiting if state_at(d, now) in states], ()
    ranks = await _ranks(tx, kept, {*terms.leads, *await _leads(tx, session, waiting)})
    places = in_order(kept, lambda delivery: ranks[delivery.id])[: terms.limit]
    letters: list[Letter] = []
    damaged: list[Delivery] = []
    for place in places:
        try:
            letters.append(await _letter(tx, place, ranks[place.id], terms.budget))
        except MessageDamaged:
            damaged.append(place)
    kept = [delivery for delivery in kept if delivery not in damaged]
    asking = sum(asks_something(d.kind, d.expects_reply) for d in kept)
    whole = around._replace(letters=(), left_out=LeftOut(len(kept), asking))
    pending = fit_letters(whole, letters, terms.budget)
    by_id = {delivery.id: delivery for delivery in places}
    news = [delivery for delivery in damaged if not await is_reported(tx, delivery)] if damaged else ()
    return Choice(pending, [by_id[letter.delivery_id] for letter in pending.letters], outdated, news)


async def _waiting(tx: Transaction, inbox: InboxId) -> Sequence[Delivery]:
    found: list[Delivery] = []
    while page := await tx.inboxes.waiting(inbox, WAITING, found[-1].seq if found else 0):
        found.extend(page)
    return found


async def _leads(tx: Transaction, session: Session, waiting: Sequence[Delivery]) -> Collection[AgentName]:
    """Return the agents that a session works for: the senders of its unfinished tasks, and the agent that spawned
    it."""
    leads = {delivery.sender for delivery in waiting if delivery.kind is Kind.TASK}
    if not session.key.is_main:
        leads.add(session.key.agent)
        parent = await tx.sessions.get(session.key.children[-2]) if session.key.depth > 1 else None
        if parent is not None:
            leads.add(parent.agent)
    return leads


async def _ranks(tx: Transaction, deliveries: Sequence[Delivery], leads: Collection[AgentName]) -> dict[str, Rank]:
    """Return the rank of each delivery's sender. The message is read only if the name is reserved, because such a name
    alone could deceive."""
    ranks: dict[str, Rank] = {}
    for delivery in deliveries:
        sender = Identity(delivery.sender)
        if is_reserved(delivery.sender) and not await is_damaged(tx, delivery.message_id):
            sender = (await known_message(tx, delivery.message_id)).sender
        ranks[delivery.id] = rank_of(sender, leads)
    return ranks


async def _letter(tx: Transaction, delivery: Delivery, rank: Rank, longest: int) -> Letter:
    """Return a delivery as it is shown to a model. For a message about a task, look up the task's state."""
    message = await known_message(tx, delivery.message_id)
    about = about_task(message)
    task = None if about is None else await tx.tasks.get(about)
    note = None if task is None else task_note(task, message, is_taken=not delivery.is_parked)
    letter = letter_of(delivery, message, rank, longest, note)._replace(child=await _child(tx, message))
    return letter._replace(work=await _work(tx, message)) if message.kind is Kind.RESPONSE else letter


async def _child(tx: Transaction, message: Message) -> ChildNote | None:
    """Return the child that sent a message; None if the sender is no child."""
    session = None if message.sender.session is None else await tx.sessions.get(message.sender.session)
    if session is None or session.key.is_main:
        return None
    run = await tx.runs.of_session(session.id)
    state = None if run is None else str(run.state)
    return ChildNote(str(session.key), session.label, None if run is None else run.id, state)


async def _work(tx: Transaction, message: Message) -> WorkNote | None:
    """Return the note on finished work that an answer carries, if any."""
    request = None if message.in_reply_to is None else await tx.messages.get(message.in_reply_to)
    if request is None or (request.marks is None and message.marks is None):
        return None
    if not await has_answered(tx, message):
        return None  # a response from an agent that was not asked ends no work
    from covey.core.attention.pending import run_of, work_note  # imported late because most answers carry no such note

    run_id = run_of(message, request)
    return work_note(message, request, None if run_id is None else await tx.runs.get(run_id))


def letter_of(delivery: Delivery, message: Message, rank: Rank, longest: int, task: TaskNote | None = None) -> Letter:
    """Return a delivery as it is shown to a model: at most `longest` characters of the body, beginning with the first
    one that the model has not seen."""
    body, request = body_of(message), requested(message)
    start = delivery.seen.resumes_at if delivery.is_partly_seen and delivery.seen is not None else 0
    return Letter(
        number=delivery.number,
        message_id=message.id,
        delivery_id=delivery.id,
        sender=message.sender,
        kind=message.kind,
        sent_at=message.created_at,
        text=body[start : start + longest],
        length=len(body),
        start=start,
        rank=rank,
        expects_reply=message.expects_reply,
        scope=message.scope,
        subject=message.subject,
        correlation_id=message.correlation_id,
        approval=request.type if request else None,
        task=task,
        callback=message.callback,
    )


async def _outdate(act: Act, delivery: Delivery, newer: Delivery) -> None:
    """Put away a delivery that tells an older state than one that is shown or will be."""
    is_queued = delivery.state is DeliveryState.QUEUED
    await shift(act, delivery, Move.SUPERSEDE if is_queued else Move.SETTLE, f"superseded by {newer.message_id}")
