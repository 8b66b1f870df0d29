"""Channels under examination: posts that would never be sent, and conversations without a recipient."""

from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

from covey.core.care.diagnoses import BINDING_DEAD, CHANNEL_INCOMPLETE, POST_MISSING, POST_STUCK
from covey.core.care.finding import Area, Examination, Finding
from covey.core.channels.channel import private_setting_of, read_config, setting_of
from covey.core.channels.post import Binding, Post, PostState
from covey.core.errors import Invalid
from covey.core.identity import Address, AddressKind, Identity, parse_session_key
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.names import AgentName, SessionId, inbox_topic, parked_inbox
from covey.core.reporting import counted
from covey.ports.care import ProgressCallback
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act
from covey.services.care.doctor.journal import note
from covey.services.channels.conversations import let_next, post_all
from covey.services.records import known_message

MOST: Final = 1_000_000
"""The number of pending posts per channel that are examined."""


class ChannelProblems(NamedTuple):
    """Faults of channels."""

    channels: int
    stuck: Sequence[Post]
    """Posts at the head of their conversation without a time for the next try."""
    unposted: Sequence[DeliveryRecord]
    """Deliveries in the inbox of a channel without a post."""
    incomplete: Sequence[AgentName]
    dead: Sequence[str]
    """Bindings to missing agents or ended sessions, in words."""

    def findings(self) -> tuple[Finding, ...]:
        found = (
            Finding(
                POST_STUCK,
                f"{counted(len(self.stuck), 'post')} without a time for the next attempt",
                tuple(f"{post.id} of {post.channel}" for post in self.stuck),
            ),
            Finding(
                POST_MISSING,
                f"{counted(len(self.unposted), 'message')} to a channel without a post",
                tuple(f"{copy.id} to {copy.agent}" for copy in self.unposted),
            ),
            Finding(
                CHANNEL_INCOMPLETE,
                f"{counted(len(self.incomplete), 'channel')} without a URL",
                tuple(self.incomplete),
            ),
            Finding(
                BINDING_DEAD, f"{counted(len(self.dead), 'conversation')} without a live recipient", tuple(self.dead)
            ),
        )
        return tuple(finding for finding in found if finding.items)


class ChannelsCheckup:
    area = Area.CHANNELS

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        del thorough, tell
        found = await self._store.read(_look, is_long=True)
        return Examination(self.area, counted(found.channels, "channel"), found.findings())

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        codes = {finding.code for finding in findings}

        async def operation(tx: Transaction) -> None:
            act = Act(tx, actor, self._clock.now())
            ailing = await _look(tx)
            for finding in ailing.findings():
                if finding.code in codes and finding.remedy is not None:
                    await note(act, finding)
            if POST_STUCK.code in codes:
                for post in ailing.stuck:
                    await let_next(act, post.channel, post.conversation)
            if POST_MISSING.code in codes:
                for copy in ailing.unposted:
                    await _post(act, copy)

        await self._store.commit(operation, is_long=True)


async def _look(tx: Transaction) -> ChannelProblems:
    agents = await tx.agents.all()
    channels = [agent.name for agent in agents if agent.card.channel]
    bindings = [(binding, await _why_dead(tx, binding)) for binding in await tx.bindings.all()]
    return ChannelProblems(
        channels=len(channels),
        stuck=[post for channel in channels for post in await _stuck(tx, channel)],
        unposted=[copy for channel in channels async for copy in _unposted(tx, channel)],
        incomplete=[channel for channel in channels if not await _is_complete(tx, channel)],
        dead=[f"{binding.channel} {binding.conversation!r}: {why}" for binding, why in bindings if why is not None],
    )


async def _stuck(tx: Transaction, channel: AgentName) -> Sequence[Post]:
    heads: dict[str, Post] = {}
    for post in await tx.posts.find(channel, PostState.PENDING, MOST):
        heads.setdefault(post.conversation, post)
    return [post for post in heads.values() if post.next_at is None]


async def _unposted(tx: Transaction, channel: AgentName) -> AsyncIterator[DeliveryRecord]:
    after = 0
    while page := await tx.inboxes.waiting(parked_inbox(channel), {DeliveryState.QUEUED}, after):
        after = page[-1].seq
        for delivery in page:
            if await tx.posts.get(delivery.id) is None:
                yield delivery


async def _is_complete(tx: Transaction, name: AgentName) -> bool:
    public, private = await tx.settings.get(setting_of(name)), await tx.settings.get(private_setting_of(name))
    try:
        config = read_config(name, public, private)
    except (Invalid, ValueError):
        return False
    return config is None or config.is_complete  # without a config it is a channel by its card, carried by a program


async def _why_dead(tx: Transaction, binding: Binding) -> str | None:
    """Return why a conversation has no recipient; None if it has one."""
    channel = await tx.agents.get(binding.channel)
    if channel is None or not channel.card.channel:
        return f"{binding.channel} is not a channel"
    return await _why_gone(tx, binding.to)


async def _why_gone(tx: Transaction, to: Address) -> str | None:
    if to.kind is AddressKind.SESSION:
        session = await tx.sessions.get(SessionId(to.value))
        return None if session is not None and not session.has_ended else f"session {to.value} has ended"
    agent = parse_session_key(to.value).agent if to.kind is AddressKind.KEY else AgentName(to.value)
    return None if await tx.agents.get(agent) is not None else f"no agent has the name {agent}"


async def _post(act: Act, delivery: DeliveryRecord) -> None:
    """Create the missing post of a delivery."""
    message = await known_message(act.tx, delivery.message_id)
    answered = await act.tx.messages.get(message.in_reply_to) if message.in_reply_to is not None else None
    await post_all(act, message, answered, (delivery,))
    if delivery.agent is not None:
        act.tx.ring(inbox_topic(parked_inbox(delivery.agent)))
