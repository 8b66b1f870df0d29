"""Bindings: the recipient of a conversation's messages. They are made and removed within a transaction."""

from covey.core.address import Address, AddressKind, parse_session_key
from covey.core.channels.binding import Binding
from covey.core.directory.card import Agent
from covey.core.errors import ChannelUnknown, ConversationUnbound, Invalid, SessionUnknown
from covey.core.ids import SessionId
from covey.core.ledger.event import Action
from covey.core.names import AgentName
from covey.ports.store import Transaction
from covey.services.act import Act, journal
from covey.services.known import known_agent


async def bind_conversation(act: Act, channel: AgentName, conversation: str, to: Address) -> Binding:
    """Route the messages of a conversation to an agent or a session."""
    await known_channel(act.tx, channel)
    target = await known_agent(act.tx, await _agent_of(act.tx, to))
    if target.card.channel:
        raise Invalid("recipient", to.value, "it is a channel itself")
    binding = Binding(channel, conversation, to, act.now)
    await act.tx.bindings.put(binding)
    await journal(act, Action.CHANNEL_BOUND, agent=channel, conversation=conversation, to=to.value)
    return binding


async def unbind_conversation(act: Act, binding: Binding) -> None:
    """Remove the binding of a conversation."""
    await act.tx.bindings.remove(binding.channel, binding.conversation)
    await journal(
        act,
        Action.CHANNEL_UNBOUND,
        agent=binding.channel,
        conversation=binding.conversation,
        to=binding.to.value,
    )


async def known_binding(tx: Transaction, channel: AgentName, conversation: str) -> Binding:
    """Return a binding. Raise ConversationUnbound if there is none."""
    binding = await tx.bindings.get(channel, conversation)
    if binding is None:
        raise ConversationUnbound(channel, conversation)
    return binding


async def known_channel(tx: Transaction, name: AgentName) -> Agent:
    """Return the agent of a channel. Raise ChannelUnknown if the name is not a channel."""
    agent = await tx.agents.get(name)
    if agent is None or not agent.card.channel:
        raise ChannelUnknown(name)
    return agent


async def _agent_of(tx: Transaction, to: Address) -> AgentName:
    if to.kind is AddressKind.KEY:
        return parse_session_key(to.value).agent
    if to.kind is AddressKind.AGENT:
        return AgentName(to.value)
    session = await tx.sessions.get(SessionId(to.value))
    if session is None:
        raise SessionUnknown(to.value)
    return session.agent
