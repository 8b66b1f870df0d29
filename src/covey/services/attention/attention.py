"""Attention: the pending mail of a session within a budget, read only or taken as an offer for one showing to a model,
with the other agents that the session sees."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from covey.core.attention.pending import (
    AttentionOptions,
    ChildNote,
    Letter,
    OmittedCounts,
    OtherAgent,
    Pending,
    SenderRank,
    TaskNote,
    WorkNote,
    about_task,
    check_terms,
    task_note,
)
from covey.core.attention.selection import fit_letters, fit_others, in_order, newest_states, rank_of
from covey.core.directory.card import Presence
from covey.core.directory.session import Activity, Session
from covey.core.errors import MessageDamaged
from covey.core.identity import Identity
from covey.core.ledger.delivery import WAITING, DeliveryRecord, DeliveryState, Move, state_at
from covey.core.ledger.message import Kind, Message, asks_something, body_of
from covey.core.names import AgentName, InboxId, SessionId, inbox_topic, is_reserved, parked_inbox, session_inbox
from covey.core.work.approval import requested
from covey.core.work.run import Run
from covey.core.work.task import Task
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, shift
from covey.services.attention.offers import OfferPart, make_offer, shown_states
from covey.services.attention.recently_shown import RecentlyShown
from covey.services.care.upkeep import Upkeep
from covey.services.directory.directory import AgentView, agents_now
from covey.services.directory.settings import SUBJECTS_ARE_CATEGORIES, is_on, is_paused
from covey.services.mail.answers import has_answered
from covey.services.mail.damage_notices import is_reported, report_damaged
from covey.services.mail.filing import NoticePorts
from covey.services.mail.waits import without_awaited
from covey.services.polling import Poller
from covey.services.records import is_damaged, known_agent, known_message, own_session
from covey.services.tasks.claims import take_parked
from covey.services.tasks.open_tasks import NO_TASKS, OpenTasks, fit_tasks, open_tasks, parked_copies


class Relative(NamedTuple):
    """A live child of the same family."""

    session: Session
    run: Run
    name: str
    """The name it is addressed by: its label if that is unique, otherwise its session key."""

    @property
    def shown(self) -> OtherAgent:
        """The child as other agents see it."""
        presence = Presence.BUSY if self.session.activity is Activity.BUSY else Presence.IDLE
        return OtherAgent(self.name, presence, self.session.status, self.run.description)


async def relatives(
    tx: Transaction, session: Session, live: Iterable[Session], taken: Collection[str]
) -> Sequence[Relative]:
    """Return the live sessions of the same family, oldest first. A label that is in `taken`, or that several sessions
    carry, is not used as a name."""
    children = [other for other in live if not other.key.is_main and other.id != session.id]
    if not children:
        return ()
    own = None if session.key.is_main else await tx.runs.of_session(session.id)
    runs: dict[SessionId, Run] = {}
    for child in children:
        run = await tx.runs.of_session(child.id)
        if run is not None and (run.parent == session.id or (own is not None and _parent(run) == _parent(own))):
            runs[child.id] = run
    found = [child for child in children if child.id in runs]
    labels = [child.label for child in children]
    names: Mapping[SessionId, str] = {
        child.id: child.label
        if child.label is not None and labels.count(child.label) == 1 and child.label not in taken
        else str(child.key)
        for child in found
    }
    return [Relative(child, runs[child.id], names[child.id]) for child in found]


async def company(
    tx: Transaction, agent: AgentName, session: Session | None, views: Sequence[AgentView]
) -> Sequence[OtherAgent]:
    """Return the participants besides a session of an agent: the other agents by name, each followed by its sessions of
    the same family. A child sees the main session of its own agent as another participant."""
    live = [other for view in views for other in view.sessions]
    family: Sequence[Relative] = (
        () if session is None else await relatives(tx, session, live, [view.name for view in views])
    )
    is_child = session is not None and not session.key.is_main
    others: list[OtherAgent] = []
    for view in views:
        is_own = view.name == agent
        if view.sessions and (not is_own or (is_child and any(other.key.is_main for other in view.sessions))):
            others.append(OtherAgent(view.name, view.presence, view.status, view.card.description))
        if is_own or len(view.sessions) > 1:  # an agent whose only session is a child goes by its own name
            others += [relative.shown for relative in family if relative.session.agent == view.name]
    return others


def _parent(run: Run) -> tuple[str, SessionId | None]:
    return run.parent_agent, run.parent


class InboxChoice(NamedTuple):
    """The selection from an inbox that is shown."""

    pending: Pending
    deliveries: Sequence[DeliveryRecord]
    """The deliveries of the letters. A delivery that is still parked hands over a task that no session has claimed."""
    outdated: Sequence[tuple[DeliveryRecord, DeliveryRecord]]
    """Deliveries that are not shown because they tell an older state, each with the newer delivery."""
    damaged: Sequence[DeliveryRecord] = ()
    """Deliveries whose message turned out to be damaged and was not reported yet."""


class InboxView(NamedTuple):
    """The result of a look at an inbox."""

    choice: InboxChoice
    has_tasks: bool
    """True if tasks wait to be taken or to be ended."""


class Attention:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        notice_ports: NoticePorts,
        upkeep: Upkeep,
        waiting: Poller,
        recently_shown: RecentlyShown,
    ) -> None:
        self._recently_shown = recently_shown
        self._store = store
        self._clock = clock
        self._notice_ports = notice_ports
        self._upkeep = upkeep
        self._waiting = waiting

    async def look(self, actor: Identity, terms: AttentionOptions | None = None, timeout: float = 0.0) -> Pending:
        """Return the pending mail of the actor's session, with the tasks that it would take. If no message is pending,
        wait for one up to `timeout` seconds. Nothing is changed."""
        wanted = check_terms(terms or AttentionOptions())
        topics = [inbox_topic(parked_inbox(actor.agent))]
        if actor.session is not None:
            topics.append(inbox_topic(session_inbox(actor.session)))

        async def look() -> Pending | None:
            pending = (await self._look(actor, wanted)).choice.pending
            return pending if pending.letters or timeout <= 0 else None

        found = await self._waiting.until(topics, look, timeout)
        return found if found is not None else (await self._look(actor, wanted)).choice.pending

    async def take(self, actor: Identity, turn: str, terms: AttentionOptions | None = None) -> Pending:
        """Take the pending mail as an offer, to be confirmed or returned. Nothing is written if nothing waits.
        Unclaimed tasks of the agent are claimed as far as they are shown, so that each is shown to one session only."""
        wanted = check_terms(terms or AttentionOptions())
        seen = await self._look(actor, wanted)
        if not seen.choice.deliveries and not seen.has_tasks and not seen.choice.damaged:
            return seen.choice.pending

        async def operation(tx: Transaction) -> Pending:
            session = await own_session(tx, actor)
            act = Act(tx, actor, self._clock.now())
            await self._upkeep.mend_inbox(act, session.inbox)
            tasks: Sequence[Task] = ()
            if seen.has_tasks:
                tasks = await fit_tasks(act, session.agent, wanted.limit, self._notice_ports, is_to_show=True)
                await own_session(tx, actor)  # sessions may have been found dead while notices were sent
            # The other agents were read before, so that no writer waits for that read.
            choice = await _choose(tx, session, seen.choice.pending, wanted, act.now, tasks)
            if choice.damaged:
                await report_damaged(act, choice.damaged, self._notice_ports)
            if not choice.deliveries:
                return choice.pending
            for delivery, newer in choice.outdated:
                await _outdate(act, delivery, newer)
            taken = [await take_parked(act, d, session) if d.is_parked else d for d in choice.deliveries]
            parts = [OfferPart(d, letter.extent) for d, letter in zip(taken, choice.pending.letters, strict=True)]
            offer_id = self._notice_ports.ids.offer_id()
            await make_offer(act, offer_id, session, parts, turn, wanted.presentation, wanted.lease)
            return choice.pending._replace(offer=offer_id)

        pending = await self._store.commit(operation, is_long=True)
        self._recently_shown.shown(
            actor.session, [(letter.sender.agent, letter.message_id) for letter in pending.letters]
        )
        return pending

    async def company(self, actor: Identity) -> Sequence[OtherAgent]:
        """Return the other agents by name, and the children of the actor's family."""

        async def operation(tx: Transaction) -> Sequence[OtherAgent]:
            session = await tx.sessions.get(actor.session) if actor.session else None
            views = await agents_now(tx, self._notice_ports.liveness, self._clock.now())
            return await company(tx, actor.agent, session, views)

        return await self._store.read(operation, is_long=True)

    async def _look(self, actor: Identity, terms: AttentionOptions) -> InboxView:
        async def operation(tx: Transaction) -> InboxView:
            session = await own_session(tx, actor)
            now = self._clock.now()
            views = await agents_now(tx, self._notice_ports.liveness, now)
            found = await _open(tx, session.agent, views, terms, now)
            around = await _around(tx, session, views, terms)
            return InboxView(await _choose(tx, session, around, terms, now, found.fit), bool(found))

        return await self._store.read(operation, is_long=True)


async def _open(
    tx: Transaction, agent: AgentName, views: Sequence[AgentView], terms: AttentionOptions, now: datetime
) -> OpenTasks:
    """Return the tasks that a session of the agent can take, if its reader has a way to handle tasks. An agent without
    tasks costs one small read."""
    is_busy = any(view.current_tasks for view in views if view.name == agent)
    if not terms.ways.task or not (is_busy or await tx.tasks.pending(agent, 1)):
        return NO_TASKS
    return await open_tasks(tx, agent, now, terms.limit, is_to_show=True)


async def _around(tx: Transaction, session: Session, views: Sequence[AgentView], terms: AttentionOptions) -> Pending:
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
    tx: Transaction, session: Session, around: Pending, terms: AttentionOptions, now: datetime, tasks: Sequence[Task]
) -> InboxChoice:
    """Choose the mail from a session's inbox, and the tasks that it can take, that fit the budget. A paused agent is
    shown nothing."""
    if await is_paused(tx, session.agent):
        return InboxChoice(around._replace(letters=(), left_out=OmittedCounts()), (), ())
    mine = await without_awaited(tx, await _waiting(tx, session.inbox), session.agent, now)
    waiting = [*mine, *await parked_copies(tx, tasks, now)]
    states = shown_states(terms.presentation)
    kept, outdated = newest_states([d for d in waiting if state_at(d, now) in states])
    if outdated and await is_on(tx, SUBJECTS_ARE_CATEGORIES):
        kept, outdated = [d for d in waiting if state_at(d, now) in states], ()
    ranks = await _ranks(tx, kept, {*terms.leads, *await _leads(tx, session, waiting)})
    places = in_order(kept, lambda delivery: ranks[delivery.id])[: terms.limit]
    letters: list[Letter] = []
    damaged: list[DeliveryRecord] = []
    for place in places:
        try:
            letters.append(await _letter(tx, place, ranks[place.id], terms.budget))
        except MessageDamaged:
            damaged.append(place)
    kept = [delivery for delivery in kept if delivery not in damaged]
    asking = sum(asks_something(d.kind, d.expects_reply) for d in kept)
    whole = around._replace(letters=(), left_out=OmittedCounts(len(kept), asking))
    pending = fit_letters(whole, letters, terms.budget)
    by_id = {delivery.id: delivery for delivery in places}
    news = [delivery for delivery in damaged if not await is_reported(tx, delivery)] if damaged else ()
    return InboxChoice(pending, [by_id[letter.delivery_id] for letter in pending.letters], outdated, news)


async def _waiting(tx: Transaction, inbox: InboxId) -> Sequence[DeliveryRecord]:
    found: list[DeliveryRecord] = []
    while page := await tx.inboxes.waiting(inbox, WAITING, found[-1].seq if found else 0):
        found.extend(page)
    return found


async def _leads(tx: Transaction, session: Session, waiting: Sequence[DeliveryRecord]) -> Collection[AgentName]:
    """Return the agents that a session works for: the senders of its unfinished tasks, and the agent that spawned
    it."""
    leads = {delivery.sender for delivery in waiting if delivery.kind is Kind.TASK}
    if not session.key.is_main:
        leads.add(session.key.agent)
        parent = await tx.sessions.get(session.key.children[-2]) if session.key.depth > 1 else None
        if parent is not None:
            leads.add(parent.agent)
    return leads


async def _ranks(
    tx: Transaction, deliveries: Sequence[DeliveryRecord], leads: Collection[AgentName]
) -> dict[str, SenderRank]:
    """Return the rank of each delivery's sender. The message is read only if the name is reserved, because such a name
    alone could deceive."""
    ranks: dict[str, SenderRank] = {}
    for delivery in deliveries:
        sender = Identity(delivery.sender)
        if is_reserved(delivery.sender) and not await is_damaged(tx, delivery.message_id):
            sender = (await known_message(tx, delivery.message_id)).sender
        ranks[delivery.id] = rank_of(sender, leads)
    return ranks


async def _letter(tx: Transaction, delivery: DeliveryRecord, rank: SenderRank, longest: int) -> Letter:
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


def letter_of(
    delivery: DeliveryRecord, message: Message, rank: SenderRank, longest: int, task: TaskNote | None = None
) -> Letter:
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


async def _outdate(act: Act, delivery: DeliveryRecord, newer: DeliveryRecord) -> None:
    """Put away a delivery that tells an older state than one that is shown or will be."""
    is_queued = delivery.state is DeliveryState.QUEUED
    await shift(act, delivery, Move.SUPERSEDE if is_queued else Move.SETTLE, f"superseded by {newer.message_id}")
