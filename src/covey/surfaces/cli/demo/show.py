"""The show: start the players, run the acts in order, kill one player, and count at the end."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import Final, NamedTuple

from covey.core.channels.channel import console
from covey.core.channels.post import OutgoingPost, PostAcceptance, PostState
from covey.core.errors import Unavailable
from covey.core.identity import parse_address
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.names import AgentName, MessageId
from covey.runtime.channels.pump import Pump
from covey.services.channels.channels import PersonMessage
from covey.surfaces.cli.demo.cast import Cast
from covey.surfaces.cli.demo.script import (
    ACTS,
    CAST,
    CHAT,
    CODER,
    CONVERSATION,
    GUIDE,
    HANDOVER,
    LEAD,
    QUESTION,
    RELEASE,
    STALLED,
    Line,
    Transcript,
    heading,
)
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.views.events import event_document
from covey.surfaces.python import space as spaces
from covey.surfaces.python.space import Space


class DemoStage:
    def __init__(self, space: Space, output: Output) -> None:
        self._space = space
        self._output = output
        self._events = space.journal(follow=True)
        self._transcript = Transcript()
        self.messages: list[MessageId] = []
        """Every message so far, in order."""
        self.events = 0
        """The number of events shown so far."""
        self._position = 0
        self._posted: dict[str, OutgoingPost] = {}

    def begin(self, title: str, scope: str | None) -> None:
        """Begin an act."""
        self.tell("act", title=title, scope=scope)
        self.show((("", ""),))
        self.show(heading(title))

    def started(self, role: str, pid: int) -> None:
        """Report the start of a process. Its session follows later."""
        self._transcript.processes[role] = pid
        self.tell("started", agent=role, pid=pid)

    def killed(self, role: str, pid: int, presence: str, debt: str) -> None:
        """Report that a process was killed, with its agent's presence and debt as others see them."""
        self.tell("killed", agent=role, pid=pid, presence=presence, debt=debt)
        self.show(self._transcript.killed(role, pid, presence, debt))

    def asked(self, conversation: str, text: str) -> None:
        """Report a person's text in a conversation."""
        self.tell("asked", conversation=conversation, text=text)
        self.show(self._transcript.in_conversation(conversation, "says", text))

    def _read(self, conversation: str, text: str) -> None:
        self.tell("posted", conversation=conversation, text=text)
        self.show(self._transcript.in_conversation(conversation, "reads", text))

    async def post(self, outgoing: OutgoingPost) -> PostAcceptance:
        """Accept a post for a conversation: the stage acts as a channel.

        The post is shown when the journal reports it.
        """
        self._posted[outgoing.post.id] = outgoing
        return PostAcceptance()

    async def until(self, found: Callable[[Event], bool]) -> Event:
        """Show events up to the one that matches, and return it."""
        while True:
            event = await anext(self._events)
            await self._show(event)
            if found(event):
                return event

    async def rest(self) -> None:
        """Show all events up to now."""
        last = await self._space.services.history.last()
        if self._position < last:
            await self.until(lambda event: event.position >= last)

    def tell(self, what: str, **details: Json) -> None:
        """Report, in JSON output, an event that is not in the journal."""
        if self._output.as_json:
            self._output.json({"event": what, **details})
            self._output.flush()

    def show(self, line: Line) -> None:
        """Show a person one line."""
        if self._output.as_json:
            return
        if self._output.is_for_a_person:
            from covey.surfaces.cli.terminal.screen import STYLES

            line = [(text, STYLES.get(style, style)) for text, style in line]
        self._output.pieces(*line)
        self._output.flush()

    async def _show(self, event: Event) -> None:
        self.events += 1
        self._position = event.position
        self.tell("journal", **event_document(event))
        if event.action is Action.MESSAGE_SENT and event.message_id is not None:
            self.messages.append(event.message_id)
            self.show(self._transcript.said(await self._space.services.mail.message(event.message_id)))
        if event.action is Action.POST_MOVED and (outgoing := self._posted.get(str(event.details["post"]))):
            self._read(outgoing.post.conversation, outgoing.message.text)
        for line in self._transcript.happened(event):
            self.show(line)


LIMIT_SECONDS: Final = 45.0
"""Limit for the whole demo on a busy machine. It usually takes a few seconds."""


class DemoSummary(NamedTuple):
    """Numbers from the ledger at the end."""

    messages: int
    deliveries: dict[str, int]
    """The number of deliveries in each state."""
    owed: tuple[str, ...]
    """The subjects that are still owed in the task that stalled."""
    events: int
    disagreements: int
    """Differences between the records and the journal. Normally 0."""
    processes: int
    killed: int
    seconds: float
    asked: MessageId
    """The question that survived the death of its recipient."""


async def play(url: str, output: Output, pace: float) -> DemoSummary:
    """Play all acts on the space at `url`. Raise Unavailable if a player fails or the limit passes."""
    began_at = time.monotonic()
    with TemporaryFile() as complaints:
        async with spaces.open(url) as space, Cast(url, pace, complaints) as cast:
            show = DemoRun(space, cast, DemoStage(space, output))
            try:
                async with asyncio.timeout(LIMIT_SECONDS), asyncio.TaskGroup() as players:
                    asked = await show.run(players)
            except TimeoutError:
                raise Unavailable(f"the demo did not end within {LIMIT_SECONDS:g} s") from None
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from None
            return await show.summary(asked, time.monotonic() - began_at)


class DemoRun:
    def __init__(self, space: spaces.Space, cast: Cast, stage: DemoStage) -> None:
        self._space = space
        self._cast = cast
        self._stage = stage

    async def run(self, players: asyncio.TaskGroup) -> MessageId:
        """Play from the first entrance to the last exit; return the question that survived."""
        for role in CAST:
            await self._enter(players, role, is_slow=role == CODER)
        for _ in CAST:
            await self._stage.until(_has_joined)
        asked = None
        for n, act in enumerate(ACTS, 1):
            self._stage.begin(f"{n}. {act.title}", act.scope)
            self._cast.cue(LEAD, act.cue)
            if act.scope == RELEASE:
                asked = await self._strike(players)
            await self._stage.until(_has_committed)
        await self._hand_over(players)
        self._stage.begin("All leave, and what is not answered waits for the next session", None)
        await self._cast.dismiss()
        await self._stage.rest()
        assert asked is not None
        return asked

    async def _hand_over(self, players: asyncio.TaskGroup) -> None:
        """Let a person ask the guide through a channel, and carry back the posts."""
        services = self._space.services
        channel = AgentName(CHAT)
        owner = services.identities.claim(AgentName("owner"))
        await services.channels.add(console(channel), owner)
        await services.channels.bind(channel, CONVERSATION, parse_address(GUIDE), owner)
        await self._stage.rest()
        self._stage.begin(f"{len(ACTS) + 1}. {HANDOVER}", None)
        self._stage.asked(CONVERSATION, QUESTION)
        pump = Pump(services, channel, self._stage, _ignore, _ignore)
        carrying = players.create_task(pump.run())
        await services.channels.hear(PersonMessage(channel, CONVERSATION, QUESTION))
        for _ in range(2):
            await self._stage.until(_is_posted)
        carrying.cancel()

    async def summary(self, asked: MessageId, seconds: float) -> DemoSummary:
        """Return the numbers, counted from the ledger."""
        receipts = [await self._space.receipt(message_id) for message_id in self._stage.messages]
        states = Counter(str(delivery.state) for receipt in receipts for delivery in receipt.deliveries)
        return DemoSummary(
            messages=len(receipts),
            deliveries=dict(states),
            owed=(await self._space.gate(STALLED)).subjects,
            events=self._stage.events,
            disagreements=len(await self._space.services.audit.check()),
            processes=self._cast.started,
            killed=self._cast.killed,
            seconds=round(seconds, 1),
            asked=asked,
        )

    async def _enter(self, players: asyncio.TaskGroup, role: str, *, is_slow: bool = False) -> int:
        pid = await self._cast.start(role, is_slow=is_slow)
        players.create_task(self._cast.watch(role))
        self._stage.started(role, pid)
        return pid

    async def _strike(self, players: asyncio.TaskGroup) -> MessageId:
        """Kill the coder as soon as it has read the question, and let another process take its place."""
        await self._stage.until(_has_read)
        pid = await self._cast.kill(CODER)
        coder = await self._space.agent(CODER)
        (owed,) = await self._space.services.dialogue.owed_by(coder.name)
        self._stage.killed(CODER, pid, str(coder.presence), str(owed.state))
        await self._enter(players, CODER)
        return owed.message_id


def _ignore(*_: object) -> None:
    """Ignore a notice of the pump: the journal is shown instead."""


def _is_posted(event: Event) -> bool:
    return event.action is Action.POST_MOVED and event.details["to"] == PostState.DELIVERED


def _has_joined(event: Event) -> bool:
    return event.action is Action.SESSION_JOINED


def _has_committed(event: Event) -> bool:
    """Return True if an act is over: the lead has committed, or was refused and reports it."""
    return event.actor.agent == LEAD and event.action in (Action.MESSAGE_SWEPT, Action.AGENT_STATUS)


def _has_read(event: Event) -> bool:
    is_in_context = event.action is Action.DELIVERY_MOVED and event.details["to"] == DeliveryState.IN_CONTEXT
    return is_in_context and event.agent == CODER and event.scope == RELEASE
