"""Applying an export: writes one record into another space."""

from covey.core.channels.binding import Binding
from covey.core.channels.post import Post, PostState
from covey.core.directory.session import Session
from covey.core.directory.token import Token
from covey.core.errors import ImportConflict
from covey.core.formats.portable import Blob, FiledMessage, NumberedAgent, PrunedMessages, Record, Setting
from covey.core.identity import THE_SPACE
from covey.core.ids import MessageId
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.event import Action, Event
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket
from covey.core.ledger.wire import encode
from covey.core.work.run import Run
from covey.core.work.task import Task
from covey.ports.store import Transaction
from covey.services.act import Act, journal
from covey.services.children.run_moves import lose_run
from covey.services.directory.presence import end_session
from covey.services.tasks.claims import release_task

LEFT_BEHIND = "its process stayed where it was exported"
"""The end reason of a session that was live in the exported space."""

Offsets = dict[str, int]
"""For agents that had mail here before: the offset that is added to the numbers of imported mail."""


async def apply(act: Act, record: Record, offsets: Offsets) -> None:
    """Write one record. The contents of files have been stored already, because blobs are not part of transactions."""
    match record:
        case NumberedAgent():
            await _agent(act.tx, record, offsets)
        case Setting(name, value):
            if await act.tx.settings.get(name) is None:
                await act.tx.settings.put(name, value)
        case Token():
            if await act.tx.tokens.get(record.hash) is None:
                await act.tx.tokens.put(record)
        case Event():
            await act.tx.journal.append(record)
        case Session():
            await _session(act, record)
        case Offer():
            await _offer(act, record)
        case PrunedMessages(ids):
            await refuse_known(act.tx, record)
            await act.tx.pruned.remember(ids)
        case FiledMessage(message, is_swept):
            await refuse_known(act.tx, record)
            await act.tx.messages.add(message, encode(message), is_swept=is_swept)
        case Ticket():
            await act.tx.tickets.put(record)
        case Delivery():
            number = record.number + offsets.get(record.agent or "", 0) if record.number else 0
            await act.tx.deliveries.place(record._replace(seq=0, number=number))
        case Task():
            await _task(act, record)
        case Binding():
            if await act.tx.bindings.get(record.channel, record.conversation) is None:
                await act.tx.bindings.put(record)
        case Post():
            await _post(act, record)
        case Run():
            await _run(act, record)
        case Blob():
            pass


async def refuse_known(tx: Transaction, record: Record) -> None:
    """Raise ImportConflict if a record with this id exists already."""
    match record:
        case FiledMessage(message, _):
            await _refuse_known_message(tx, message.id)
        case PrunedMessages(ids):
            for message_id in ids:
                await _refuse_known_message(tx, message_id)
        case Session() if await tx.sessions.get(record.id) is not None:
            raise ImportConflict("session", record.id)
        case Offer() if await tx.offers.get(record.id) is not None:
            raise ImportConflict("offer", record.id)
        case _:
            pass


async def _refuse_known_message(tx: Transaction, message_id: MessageId) -> None:
    if await tx.messages.get(message_id) is not None or await tx.pruned.has(message_id):
        raise ImportConflict("message", message_id)


async def _agent(tx: Transaction, record: NumberedAgent, offsets: Offsets) -> None:
    """Register an agent, or leave an existing one unchanged. Reserve the numbers of its imported mail at once."""
    agent, numbered = record
    if await tx.agents.get(agent.name) is None:
        await tx.agents.put(agent)
    if numbered:
        first = await tx.agents.next_number(agent.name, numbered)
        if first > 1:
            offsets[agent.name] = first - 1


async def _session(act: Act, session: Session) -> None:
    """Add a session. A live session is ended, because its process is not here."""
    await refuse_known(act.tx, session)
    await act.tx.sessions.put(session)
    if not session.has_ended:
        await end_session(act._replace(actor=THE_SPACE), session, LEFT_BEHIND, ())


async def _offer(act: Act, offer: Offer) -> None:
    """Add an offer. A live offer ends with its session."""
    await refuse_known(act.tx, offer)
    if offer.ended_at is not None:
        await act.tx.offers.put(offer)
        return
    await act.tx.offers.put(offer._replace(ended_at=act.now, end_reason=LEFT_BEHIND))
    session = await act.tx.sessions.get(offer.session)
    agent = session.agent if session else None
    finding = act._replace(actor=THE_SPACE)
    await journal(finding, Action.OFFER_ENDED, agent=agent, offer=offer.id, reason=LEFT_BEHIND)


async def _task(act: Act, task: Task) -> None:
    """Add a task. A task of a live session is released for the next one."""
    await act.tx.tasks.put(task)
    if task.claimed_by is not None:
        await release_task(act._replace(actor=THE_SPACE), task, task.claimed_by)


async def _post(act: Act, post: Post) -> None:
    """Add a post. A pending post queues behind the posts of its conversation here."""
    if post.state is PostState.PENDING:
        head = await act.tx.posts.head(post.channel, post.conversation)
        post = post._replace(next_at=post.next_at or act.now if head is None else None)
    await act.tx.posts.put(post)


async def _run(act: Act, run: Run) -> None:
    """Add a run. A run that had not ended is lost, because its program and its supervisor are not here. Upkeep notifies
    its parent later."""
    await act.tx.runs.put(run)
    session = await act.tx.sessions.get(run.session)
    if not run.has_ended and session is not None:
        await lose_run(act._replace(actor=THE_SPACE), session, LEFT_BEHIND)
