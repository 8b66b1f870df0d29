"""Posting: mail for a channel's agent becomes posts, in the transaction that files it."""

from collections.abc import Iterable

from covey.core.channels.binding import OWN
from covey.core.channels.post import Post, PostMove, conversation_of, new_post
from covey.core.ids import inbox_topic, parked_inbox
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.message import Message
from covey.core.names import AgentName
from covey.services.act import Act, journal


async def post_all(act: Act, message: Message, answered: Message | None, deliveries: Iterable[Delivery]) -> None:
    """Create the posts of a message that was filed just now, for the deliveries in the inboxes of its channels."""
    for delivery in deliveries:
        if delivery.agent is None or delivery.state is not DeliveryState.QUEUED:
            continue
        conversation = conversation_of(delivery.agent, message, answered) or await _thread_of(act, message, delivery)
        waits = await act.tx.posts.head(delivery.agent, conversation) is not None
        await act.tx.posts.put(new_post(delivery.id, delivery.agent, conversation, message, act.now, waits=waits))


async def _thread_of(act: Act, message: Message, delivery: Delivery) -> str:
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
