"""Unarchived mail of an agent: its waiting mail, and every request whose ticket is not closed; also looked up by
number."""

from collections.abc import Sequence
from datetime import datetime

from covey.core.delivery import WAITING, Delivery, state_at
from covey.core.errors import OrphanInbox
from covey.core.ids import MessageId, parked_inbox
from covey.core.names import AgentName
from covey.ports.store import Transaction
from covey.services.damaged import message_or_notice
from covey.services.known import known_agent
from covey.services.looking import Item
from covey.services.policies import CLOSED_ROSTER, is_on


async def unarchived(tx: Transaction, agent: AgentName, now: datetime) -> Sequence[Item]:
    """Return each unarchived message once, by seq. For an unknown agent, raise OrphanInbox if mail waits for that name;
    otherwise raise RecipientUnknown on a closed roster, and return nothing on an open one."""
    found = await _copies(tx, agent, now)
    if await tx.agents.get(agent) is None:
        await _check_unknown(tx, agent, len(found))
    by_seq = sorted(found.values(), key=_seq)
    return [Item(d, await message_or_notice(tx, d.message_id, d.updated_at), state_at(d, now)) for d in by_seq]


async def numbered(tx: Transaction, agent: AgentName, number: int, now: datetime) -> Delivery | None:
    """Return the delivery with a number for an agent: an unarchived one, otherwise one that was handled."""
    waiting = (copy for copy in (await _copies(tx, agent, now)).values() if copy.number == number)
    handled = await tx.deliveries.handled(agent, number) if number > 0 else ()
    return next(waiting, None) or next(iter(handled), None)


async def _copies(tx: Transaction, agent: AgentName, now: datetime) -> dict[MessageId, Delivery]:
    found: dict[MessageId, Delivery] = {}
    for inbox in (parked_inbox(agent), *[session.inbox for session in await tx.sessions.of_agent(agent)]):
        after = 0
        while page := await tx.inboxes.waiting(inbox, WAITING, after):
            after = page[-1].seq
            found |= {d.message_id: d for d in page if d.message_id not in found and state_at(d, now) in WAITING}
    for ticket in await tx.tickets.owed_by(agent):
        copies = [copy for copy in await tx.deliveries.of_message(ticket.message_id) if copy.agent == agent]
        found |= {d.message_id: d for d in copies if d.message_id not in found}
    return found


async def _check_unknown(tx: Transaction, agent: AgentName, waiting: int) -> None:
    if waiting:
        raise OrphanInbox(agent, waiting)
    if await is_on(tx, CLOSED_ROSTER):
        await known_agent(tx, agent)


def _seq(delivery: Delivery) -> int:
    return delivery.seq
