"""Callbacks: a result is sent to the conversation in which it was requested."""

from covey.core.directory.card import Agent
from covey.core.errors import Invalid
from covey.core.ledger.message import Message
from covey.core.names import parse_agent_name
from covey.ports.clock import Ids
from covey.ports.directory import Liveness
from covey.services.act import Act
from covey.services.mail.notices import tell_of
from covey.services.mail.updates import Told


async def route_result(act: Act, update: Message, ids: Ids, liveness: Liveness) -> Message | None:
    """Pass the last update of a task on to the channel that its callback names, and return what was filed there. It is
    due, and so it passes every rule. None where there is no such channel, or the update went there already.

    It belongs into the transaction that finishes the task, and so happens once.
    """
    channel = await channel_of(act, update)
    if channel is None or any(address.value == channel.name for address in update.to):
        return None
    told = Told(channel.name, None, update.parts, update.task)
    return await tell_of(act, update, told, update.sender, ids, liveness)


async def channel_of(act: Act, message: Message) -> Agent | None:
    """Return the channel that a message's callback names; None where it names none of the space."""
    if message.callback is None:
        return None
    try:
        name = parse_agent_name(message.callback.channel)
    except Invalid:  # it names something outside the space
        return None
    agent = await act.tx.agents.get(name)
    return agent if agent is not None and agent.card.channel else None
