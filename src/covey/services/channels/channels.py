"""Channels: the ways to reach people, the bindings of their conversations, and incoming messages from people."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from covey.core.authority import check_free
from covey.core.channels.channel import (
    ChannelConfig,
    private_of,
    private_setting_of,
    public_of,
    read_config,
    setting_of,
)
from covey.core.channels.post import END_OF_TIME, OWN, Binding, PostMove, PostState, post_moved
from covey.core.directory.card import Agent, Card
from covey.core.errors import ChannelUnknown, ConversationUnbound, Invalid, RequestReplayed
from covey.core.identity import Address, Identity, hash_secret
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import Callback, DataPart, Kind, Part, TextPart
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.names import AgentName, MessageId, derived_message_id, parked_inbox
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.channels.conversations import (
    bind_conversation,
    known_binding,
    known_channel,
    record,
    unbind_conversation,
)
from covey.services.directory.directory import enrol
from covey.services.mail.mail import Mail
from covey.services.mail.recipients import SendPolicy
from covey.services.records import known_message

REMOVED: Final = "the channel was removed"
FAILED_SHOWN: Final = 1000


class PersonMessage(NamedTuple):
    """A message that a person wrote in a conversation."""

    channel: AgentName
    conversation: str
    text: str
    person: str | None = None
    """The person's name as the channel reports it; unverified."""
    reply_to: MessageId | None = None
    """The message that this one answers, which was posted in this conversation. No binding is needed then."""
    key: str | None = None
    """The receiver's deduplication key: the same key again has no second effect."""
    is_once: bool = False
    """True if the same key again raises RequestReplayed instead of returning the first receipt."""


class ChannelView(NamedTuple):
    """A channel as it is now."""

    name: AgentName
    config: ChannelConfig | None
    """None if the agent is a channel by its card alone."""
    waiting: int
    """The number of deliveries in the channel's inbox: those to be posted, and those whose post failed."""
    failed: int
    next_at: datetime | None
    """The time from which the next post may be tried."""
    error: str | None
    """The error of the next post to be tried; if it has none, of the last failed post."""
    bindings: Sequence[Binding]


class Channels:
    def __init__(self, store: Store, clock: Clock, mail: Mail) -> None:
        self._store = store
        self._clock = clock
        self._mail = mail

    async def add(self, config: ChannelConfig, actor: Identity, description: str = "") -> None:
        """Make an agent a channel, or change the configuration of a channel. An agent with a session can't be a
        channel."""
        check_free(config.name)

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            known = await tx.agents.get(config.name)
            if await tx.sessions.of_agent(config.name):
                raise Invalid("channel", config.name, "an agent with a session has that name")
            card = known.card if known is not None else Card()
            # A channel takes no tasks: no session there would work on them.
            channel = card._replace(channel=True, quota=0, description=description or card.description)
            if known is None or channel != card:
                await enrol(act, config.name, channel)
            await tx.settings.put(setting_of(config.name), json.dumps(public_of(config)))
            await tx.settings.put(private_setting_of(config.name), json.dumps(private_of(config)))
            await journal(
                act,
                Action.SETTING_CHANGED,
                agent=config.name,
                setting=setting_of(config.name),
                value=public_of(config),
            )

        await self._store.commit(operation)

    async def remove(self, name: AgentName, actor: Identity) -> int:
        """Turn a channel back into a plain agent: unposted messages stay in its inbox, its bindings are removed. Return
        the number of posts that were pending."""

        async def operation(tx: Transaction) -> int:
            act = Act(tx, actor, self._clock.now())
            agent = await known_channel(tx, name)
            await enrol(act, name, agent.card._replace(channel=False, quota=Card().quota))
            await tx.settings.put(setting_of(name), "")
            await tx.settings.put(private_setting_of(name), "")
            await journal(act, Action.SETTING_CHANGED, agent=name, setting=setting_of(name), value=None)
            for binding in await tx.bindings.all():
                if binding.channel == name:
                    await unbind_conversation(act, binding)
            pending = 0
            while found := await tx.posts.find(name, PostState.PENDING, FAILED_SHOWN):
                pending += len(found)
                for post in found:
                    await record(act, post, post_moved(post, PostMove.FAIL)._replace(error=REMOVED), PostMove.FAIL)
            return pending

        return await self._store.commit(operation, is_long=True)

    async def config(self, name: AgentName) -> ChannelConfig:
        """Return the configuration of a channel, with its secrets. Raise ChannelUnknown if there is none."""

        async def operation(tx: Transaction) -> ChannelConfig:
            config = await _config(tx, name)
            if config is None:
                raise ChannelUnknown(name)
            return config

        return await self._store.read(operation)

    async def all(self) -> Sequence[ChannelView]:
        """Return every channel, by name."""

        async def operation(tx: Transaction) -> Sequence[ChannelView]:
            bindings = await tx.bindings.all()
            channels = [agent for agent in await tx.agents.all() if agent.card.channel]
            return [await _view(tx, agent, bindings) for agent in channels]

        return await self._store.read(operation, is_long=True)

    async def bind(self, name: AgentName, conversation: str, to: Address, actor: Identity) -> Binding:
        """Route the messages of a conversation to an agent or a session, which can answer there. The conversation OWN
        stands for all conversations without a binding of their own."""

        async def operation(tx: Transaction) -> Binding:
            return await bind_conversation(Act(tx, actor, self._clock.now()), name, conversation, to)

        return await self._store.commit(operation)

    async def unbind(self, name: AgentName, conversation: str, actor: Identity) -> Binding:
        """Remove the binding of a conversation. Raise ConversationUnbound if there is none."""

        async def operation(tx: Transaction) -> Binding:
            binding = await known_binding(tx, name, conversation)
            await unbind_conversation(Act(tx, actor, self._clock.now()), binding)
            return binding

        return await self._store.commit(operation)

    async def hear(self, said: PersonMessage) -> ReceiptRecord:
        """Accept a message that a person wrote: for the recipient of the conversation's binding, or as the answer to
        the message it names. Answers to it go back to the conversation."""
        if not said.text.strip():
            raise Invalid("text", said.text, "say something")

        async def look(tx: Transaction) -> Binding | None:
            await known_channel(tx, said.channel)
            if said.reply_to is not None:
                return await _check_posted(tx, said, said.reply_to)
            bound = await tx.bindings.get(said.channel, said.conversation) or await tx.bindings.get(said.channel, OWN)
            if bound is None:
                raise ConversationUnbound(said.channel, said.conversation)
            return bound

        bound = await self._store.read(look)
        parts: tuple[Part, ...] = (TextPart(said.text),)
        if said.person is not None:
            parts += (DataPart({"person": said.person}),)  # a model reads the name too
        draft = Draft(
            kind=Kind.NOTIFY if bound is not None else Kind.RESPONSE,
            to=() if bound is None else (bound.to,),
            parts=parts,
            id=_derived_id(said, said.key) if said.key is not None else None,
            in_reply_to=said.reply_to,
            callback=Callback(said.channel, said.conversation),
        )
        marks = None if said.person is None else Marks(person=said.person)
        sent = await self._mail.submit(draft, Identity(said.channel), SendPolicy(), marks=marks)
        if said.is_once and not sent.is_new:
            raise RequestReplayed(sent.message.id)
        return sent.receipt


async def _view(tx: Transaction, agent: Agent, bindings: Sequence[Binding]) -> ChannelView:
    name = agent.name
    first = await tx.posts.due(name, END_OF_TIME, 1)
    failed = await tx.posts.find(name, PostState.FAILED, FAILED_SHOWN)
    errors = [post.error for post in (*failed, *first) if post.error is not None]
    return ChannelView(
        name=name,
        config=await _config(tx, name),
        waiting=await tx.inboxes.queued(parked_inbox(name)),
        failed=len(failed),
        next_at=first[0].next_at if first else None,
        error=errors[-1] if errors else None,
        bindings=[binding for binding in bindings if binding.channel == name],
    )


async def _config(tx: Transaction, name: AgentName) -> ChannelConfig | None:
    return read_config(name, await tx.settings.get(setting_of(name)), await tx.settings.get(private_setting_of(name)))


async def _check_posted(tx: Transaction, said: PersonMessage, answered: MessageId) -> None:
    """Raise Invalid if a message was not posted in the conversation: people can answer only what they were shown."""
    await known_message(tx, answered)
    for copy in await tx.deliveries.of_message(answered):
        post = await tx.posts.get(copy.id)
        if post is not None and (post.channel, post.conversation) == (said.channel, said.conversation):
            return
    raise Invalid("reply_to", answered, f"it was not posted in this conversation of {said.channel}")


def _derived_id(said: PersonMessage, key: str) -> MessageId:
    """Return the message id for a key. The id contains no time, so that the same key always has the same id."""
    return derived_message_id(0, hash_secret("\0".join((said.channel, said.conversation, key))))
