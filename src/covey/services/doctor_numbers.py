"""Numbering of an agent that has to be registered again: its numbers continue after the last one."""

from typing import Final

from covey.core.event import Action
from covey.core.names import AgentName
from covey.ports.journal import EventFilter
from covey.ports.store import Transaction

PAGE: Final = 1000
_NUMBERING: Final = (Action.MESSAGE_SENT, Action.DELIVERY_PLACED)
"""Actions that number a delivery: accepting the message, or adopting mail from before the session."""


async def restore_numbers(tx: Transaction, agent: AgentName) -> None:
    """Continue the agent's numbers after the highest number of its mail. Reads the whole journal."""
    highest = 0
    for action in _NUMBERING:
        after = 0
        while events := await tx.journal.read(after, PAGE, EventFilter(action=action)):
            after = events[-1].position
            for event in events:
                if event.message_id is not None:
                    copies = await tx.deliveries.of_message(event.message_id)
                    highest = max((highest, *(copy.number for copy in copies if copy.agent == agent)))
    for _ in range(highest):
        await tx.agents.next_number(agent)
