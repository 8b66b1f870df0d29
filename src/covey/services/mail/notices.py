"""Notices: messages of the space to a sender about its message. They pass every rule and spend no hops."""

from typing import Final

from covey.core.channels.post import Post
from covey.core.identity import THE_SPACE, Identity
from covey.core.ledger.message import DataPart, Kind, Message, Part, TaskRef, TextPart
from covey.core.ledger.ticket import Ticket, TicketTrouble
from covey.core.limits import FLOW_SAMPLE
from covey.core.names import AgentName
from covey.core.text.hidden import unbroken
from covey.core.work.task import TaskState
from covey.ports.clock import Ids
from covey.ports.directory import Liveness
from covey.services.act import Act, trouble
from covey.services.mail.filing import NoticePorts, UpdateDraft, file_update

REJECTED: Final = str(TaskState.REJECTED)


async def report_trouble(act: Act, ticket: Ticket, why: TicketTrouble, ids: Ids, liveness: Liveness) -> None:
    """Record the trouble on the ticket and notify the asker, once."""
    after = await trouble(act, ticket, why)
    if after is not ticket:
        await _tell(act, after, why, ids, liveness)


def is_notice_of(message: Message, ticket: Ticket) -> bool:
    """Tell whether `message` is the space's notice of the trouble on `ticket`."""
    if message.sender != THE_SPACE or ticket.trouble is None:
        return False
    return message.in_reply_to == ticket.message_id and _about(ticket, ticket.trouble) in message.parts


def _about(ticket: Ticket, why: TicketTrouble) -> DataPart:
    return DataPart({"ticket": ticket.id, "trouble": str(why)})


async def _tell(act: Act, ticket: Ticket, why: TicketTrouble, ids: Ids, liveness: Liveness) -> None:
    request = await act.tx.messages.get(ticket.message_id)
    if request is not None:
        text = f"Your request to {ticket.debtor} was {why} before it was answered. The answer is still owed."
        await _notify_sender(act, request, (TextPart(text), _about(ticket, why)), ids, liveness)


async def report_unauthorized(act: Act, message: Message, recipient: AgentName, ids: Ids, liveness: Liveness) -> None:
    """Notify a sender that a recipient does not accept its mail. The receipt says the same."""
    await report_refused(act, message, recipient, "unauthorized", ids, liveness)


async def report_refused(
    act: Act, message: Message, recipient: AgentName, reason: str, ids: Ids, liveness: Liveness
) -> None:
    """Notify a sender that its message did not reach a recipient.

    For a task, the notice is an update with the state `rejected`.
    """
    text = f"Your {_word(message)} to {recipient} was rejected: {reason}."
    data = DataPart({"state": REJECTED, "reason": reason, "agent": recipient})
    task = TaskRef(message.id, REJECTED) if message.kind is Kind.TASK else None
    await _notify_sender(act, message, (TextPart(text), data), ids, liveness, task)


def _word(message: Message) -> str:
    return "task" if message.kind is Kind.TASK else "message"


async def report_unposted(act: Act, message: Message, post: Post, ids: Ids, liveness: Liveness) -> None:
    """Notify a sender that its message could not be posted to people, with the reason."""
    why = unbroken(post.error or "")
    text = f"Your message to {post.channel} could not be posted: {why}. It stays in the inbox of {post.channel}."
    data = DataPart({"post": post.id, "state": str(post.state), "attempts": post.attempts, "error": post.error})
    await _notify_sender(act, message, (TextPart(text), data), ids, liveness)


async def _notify_sender(
    act: Act, about: Message, parts: tuple[Part, ...], ids: Ids, liveness: Liveness, task: TaskRef | None = None
) -> None:
    """Send a notice about a message to the session that sent it if that session is live, otherwise to its agent."""
    if await act.tx.agents.get(about.sender.agent) is not None:
        told = UpdateDraft(about.sender.agent, about.sender.session, parts, task)
        await tell_of(act, about, told, THE_SPACE, ids, liveness)


async def tell_of(
    act: Act, about: Message, told: UpdateDraft, sender: Identity, ids: Ids, liveness: Liveness
) -> Message:
    """File an update about a message, and return the update.

    Updates about tasks are counted like other messages, because agents can also keep each other going with tasks.
    """
    update, delivery = await file_update(act, about, told, sender, ids, liveness)
    if told.task is not None and delivery.number % FLOW_SAMPLE == 0:
        from covey.services.storms.storms import count_samples  # imported late because most updates are not sampled

        await count_samples(act, update, (delivery,), NoticePorts(ids, liveness), is_due=True)
    return update
