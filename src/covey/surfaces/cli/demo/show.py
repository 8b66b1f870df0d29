"""The show: start the players, let the acts follow one another, kill one of them, and count at the end."""

import asyncio
import time
from collections import Counter
from tempfile import TemporaryFile
from typing import Final, NamedTuple

from covey.core.address import parse_address
from covey.core.channel import console
from covey.core.delivery import DeliveryState
from covey.core.errors import Unavailable
from covey.core.event import Action, Event
from covey.core.ids import MessageId
from covey.core.names import AgentName
from covey.core.post import PostState
from covey.runtime.channels.pump import Pump
from covey.services.channels import Said
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
)
from covey.surfaces.cli.demo.stage import Stage
from covey.surfaces.cli.output import Output
from covey.surfaces.python import space as spaces

LIMIT_SECONDS: Final = 45.0
"""How long it may take where the machine has other things to do. By itself it takes a few seconds."""


class Summary(NamedTuple):
    """What the ledger says at the end."""

    messages: int
    deliveries: dict[str, int]
    """How many are in each state."""
    owed: tuple[str, ...]
    """The subjects that are still owed in the task that stalled."""
    events: int
    disagreements: int
    """Between the records and the journal: none, where all is well."""
    processes: int
    killed: int
    seconds: float
    asked: MessageId
    """The question that survived the death of whom it was for."""


async def play(url: str, output: Output, pace: float) -> Summary:
    """Play all acts on the space at `url`; Unavailable where a player fails or it takes too long."""
    began_at = time.monotonic()
    with TemporaryFile() as complaints:
        async with spaces.open(url) as space, Cast(url, pace, complaints) as cast:
            show = Show(space, cast, Stage(space, output))
            try:
                async with asyncio.timeout(LIMIT_SECONDS), asyncio.TaskGroup() as players:
                    asked = await show.run(players)
            except TimeoutError:
                raise Unavailable(f"the demo did not end within {LIMIT_SECONDS:g} s") from None
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from None
            return await show.summary(asked, time.monotonic() - began_at)


class Show:
    def __init__(self, space: spaces.Space, cast: Cast, stage: Stage) -> None:
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
        """Let a person ask the guide through a channel, and carry back what is posted there."""
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
        await services.channels.hear(Said(channel, CONVERSATION, QUESTION))
        for _ in range(2):
            await self._stage.until(_is_posted)
        carrying.cancel()

    async def summary(self, asked: MessageId, seconds: float) -> Summary:
        """Count, by the ledger."""
        receipts = [await self._space.receipt(message_id) for message_id in self._stage.messages]
        states = Counter(str(delivery.state) for receipt in receipts for delivery in receipt.deliveries)
        return Summary(
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
    """Nobody needs to be told: the journal is shown."""


def _is_posted(event: Event) -> bool:
    return event.action is Action.POST_MOVED and event.details["to"] == PostState.DELIVERED


def _has_joined(event: Event) -> bool:
    return event.action is Action.SESSION_JOINED


def _has_committed(event: Event) -> bool:
    """Tell whether an act is over: the lead has committed, or was refused and says so."""
    return event.actor.agent == LEAD and event.action in (Action.MESSAGE_SWEPT, Action.AGENT_STATUS)


def _has_read(event: Event) -> bool:
    is_in_context = event.action is Action.DELIVERY_MOVED and event.details["to"] == DeliveryState.IN_CONTEXT
    return is_in_context and event.agent == CODER and event.scope == RELEASE
