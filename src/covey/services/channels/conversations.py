"""Conversations of channels: the binding of a conversation to the recipient of its messages, and the posts that carry
mail to the people in it. Both are written in the transaction that needs them."""

from collections.abc import Iterable

from covey.core.channels.post import OWN, Binding, Post, PostMove, conversation_of, new_post
from covey.core.directory.card import Agent
from covey.core.errors import ChannelUnknown, ConversationUnbound, Invalid, SessionUnknown
from covey.core.identity import Address, AddressKind, parse_session_key
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.message import Message
from covey.core.names import AgentName, SessionId, inbox_topic, parked_inbox
from covey.ports.store import Transaction
from covey.services.act import Act, journal
from covey.services.records import known_agent


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


async def post_all(act: Act, message: Message, answered: Message | None, deliveries: Iterable[DeliveryRecord]) -> None:
    """Create the posts of a message that was filed just now, for the deliveries in the inboxes of its channels."""
    for delivery in deliveries:
        if delivery.agent is None or delivery.state is not DeliveryState.QUEUED:
            continue
        conversation = conversation_of(delivery.agent, message, answered) or await _thread_of(act, message, delivery)
        waits = await act.tx.posts.head(delivery.agent, conversation) is not None
        await act.tx.posts.put(new_post(delivery.id, delivery.agent, conversation, message, act.now, waits=waits))


async def _thread_of(act: Act, message: Message, delivery: DeliveryRecord) -> str:
    """Return the conversation of the channel that the sender's run is bound to, if the sender is a child; otherwise the
    channel's own."""
    run = None if message.sender.session is None else await act.tx.runs.of_session(message.sender.session)
    thread = None if run is None else run.thread
    return OWN if thread is None or thread.channel != delivery.agent else thread.session_id


async def let_next(act: Act, channel: AgentName, conversation: str) -> None:
    """Schedule the next post of a conversation, after the one before it is done."""
    head = await act.tx.posts.head(channel, conversation)
    if head is not None and head.next_at is None:
        await act.tx.posts.put(head._replace(next_at=act.now))
        act.tx.ring(inbox_topic(parked_inbox(channel)))


async def record(act: Act, before: Post, after: Post, move: PostMove) -> None:
    """Record the new state of a post, and journal it."""
    await act.tx.posts.put(after)
    await journal(
        act,
        Action.POST_MOVED,
        message_id=after.message_id,
        agent=after.channel,
        scope=None,
        post=after.id,
        conversation=after.conversation,
        **{"from": str(before.state), "move": str(move), "to": str(after.state)},
        attempts=before.attempts,
        error=after.error,
    )
