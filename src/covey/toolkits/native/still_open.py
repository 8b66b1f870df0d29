"""Open matters: messages that were shown and not handled, tasks, and answers that the caller waits for."""

from collections.abc import Collection, Sequence
from typing import Final

from covey.core.approval import requested
from covey.core.attention_body import body_of
from covey.core.delivery import WAITING, DeliveryState
from covey.core.ids import MessageId, SessionId
from covey.core.message import Kind
from covey.core.ticket import Ticket, TicketState
from covey.ports.tasks import TaskFilter
from covey.services.looking import Item
from covey.services.tasks import TaskView
from covey.toolkits.tasks import described
from covey.toolkits.tool import Caller
from covey.toolkits.wording import said

MANY: Final = 20
"""The maximal number of lines of each kind; the others are counted."""

WORDS: Final = 80
"""The number of characters of a message in its line."""


async def still_open(caller: Caller, shown: Collection[MessageId]) -> Sequence[str]:
    """Return lines about open matters, without the messages that are shown anyway."""
    session = caller.identity.session
    items = await caller.services.dialogue.unarchived(caller.identity.agent)
    debts = {t.message_id for t in await caller.services.dialogue.owed_by(caller.identity.agent) if _is_open(t)}
    mine = [item for item in items if item.message.id not in shown and _is_mine(item, session, debts)]
    waits = [ticket for ticket in await caller.services.dialogue.owed_to(caller.identity.agent) if _is_open(ticket)]
    in_hand = [v for v in await caller.services.duties.in_hand(caller.identity) if v.task.id not in shown]
    delegated = TaskFilter(delegator=caller.identity.agent, is_finished=False)
    given = [view for view in await caller.services.tasks.find(delegated) if not view.task.is_finished]
    return [
        *_block("Your tasks; update_task says what becomes of them:", await described(caller, in_hand)),
        *_block("Still open; read_inbox(message=NUMBER) shows one again:", [_line(item) for item in mine]),
        *_block("You wait for an answer of:", [f'{t.debtor}: ask_agent(ticket="{t.id}")' for t in waits]),
        *_block("Others do for you:", [_given(view) for view in given]),
    ]


def _is_open(ticket: Ticket) -> bool:
    return ticket.state is TicketState.OPEN


def _is_mine(item: Item, session: SessionId | None, debts: Collection[MessageId]) -> bool:
    """Tell whether the caller must handle a message: it waits in its own session, or its agent owes an answer. New mail
    is left out, because it is shown when there is room."""
    if item.message.kind is Kind.TASK:
        return False  # listed among the tasks
    if item.delivery.state not in WAITING:
        return item.message.id in debts
    if session is None:
        return True
    return item.delivery.session == session and item.state is not DeliveryState.QUEUED


def _line(item: Item) -> str:
    wants = ", wants an answer" if item.message.expects_reply else ""
    if requested(item.message):
        wants = ", wants your approval"
    body = said(body_of(item.message), WORDS)
    return f"#{item.delivery.number} {item.message.kind} from {item.message.sender}{wants}: {body}"


def _given(view: TaskView) -> str:
    task = view.task
    return f"{task.agent}: task {task.id}, {task.state}: {said(body_of(view.message), WORDS)}"


def _block(head: str, lines: Sequence[str]) -> Sequence[str]:
    if not lines:
        return ()
    more = [f"- and {len(lines) - MANY} more"] if len(lines) > MANY else []
    return [head, *(f"- {line}" for line in lines[:MANY]), *more]
