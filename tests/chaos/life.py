"""The life of one agent, at random: it sends, shows, answers, settles, archives, withdraws, leaves and joins again."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from random import Random

from covey.adapters.system.ids import SystemIds
from covey.core.errors import AlreadyArchived, GateClosed, IllegalMove, MessagePruned, NotAnswered
from covey.core.identity import EVERYONE, parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.offer import EvidenceGrade, Presentation
from covey.core.names import AgentName, MessageId, Scope, Subject, session_inbox
from covey.services.care.prune import Prune
from covey.services.care.retention import PruneRequest
from covey.services.directory.directory import Joined, JoinRequest
from covey.services.mail.recipients import SendPolicy
from covey.services.space import Services
from tests.chaos.diary import Diary, Done, Sent

NAMES = [AgentName(name) for name in ("ann", "bob", "cy", "dee")]
HANDLED, WITHDRAWN = DeliveryState.HANDLED, DeliveryState.WITHDRAWN
SCOPES = [Scope(f"scope-{n}") for n in range(5)]

EXPECTED = (IllegalMove, NotAnswered, AlreadyArchived, GateClosed, MessagePruned)
"""Refusals because another agent changed the same message a moment before. Any other refusal is a fault."""


class Life:
    def __init__(self, services: Services, name: AgentName, random: Random, diary: Diary, prune: Prune) -> None:
        self._services = services
        self._prune = prune
        self._name = name
        self._random = random
        self._diary = diary
        self._ids = SystemIds()
        self._sent: list[MessageId] = []
        self._answered: list[MessageId] = []
        self._joined: Joined

    async def begin(self) -> None:
        """Join."""
        self._joined = await self._services.directory.join(JoinRequest(self._name))

    async def step(self) -> None:
        """Do one random operation."""
        choices: Sequence[tuple[int, Callable[[], Awaitable[object]]]] = (
            (30, self._send),
            (10, self._send_everyone),
            (25, self._show),
            (10, self._settle),
            (10, self._archive),
            (5, self._withdraw),
            (3, self._judge),
            (3, self._live_on),
            (2, self._come_back),
            (1, self._clean_up),
        )
        (do,) = self._random.choices([do for _, do in choices], [weight for weight, _ in choices])
        with suppress(*EXPECTED):
            await do()

    async def _send(self) -> None:
        kind = self._random.choice((Kind.NOTIFY, Kind.NOTIFY, Kind.REQUEST, Kind.REQUEST, Kind.TASK))
        to = self._random.sample(NAMES, 1 if kind is Kind.TASK else self._random.choice((1, 1, 2)))
        await self._deliver(
            self._draft(kind, *to)._replace(
                subject=Subject("news") if self._random.random() < 0.2 else None,
                expires_at=self._services.clock.now() + timedelta(seconds=1) if self._random.random() < 0.1 else None,
            )
        )

    async def _send_everyone(self) -> None:
        await self._deliver(self._draft(Kind.NOTIFY)._replace(to=(EVERYONE,)))

    async def _show(self) -> None:
        """Show the pending messages. Then confirm and answer them, return them, or do nothing."""
        actor = self._joined.identity
        presentation = self._random.choice((Presentation.ONCE, Presentation.UNTIL_HANDLED))
        showing = await self._services.offers.offer(
            actor, "turn", presentation=presentation, limit=5, lease=timedelta(seconds=self._random.choice((1, 600)))
        )
        if showing is None or self._random.random() < 0.2:
            return
        if self._random.random() < 0.2:
            await self._services.offers.give_back(showing.offer.id, actor, "not shown")
            return
        grade = self._random.choice(list(EvidenceGrade))
        await self._services.offers.confirm(showing.offer.id, actor, grade, "chaos")
        for item in showing.items:
            if item.delivery.expects_reply and self._random.random() < 0.8:
                await self._deliver(self._draft(Kind.RESPONSE)._replace(in_reply_to=item.message.id, scope=None))
                self._answered.append(item.message.id)

    async def _settle(self) -> None:
        items = await self._services.inbox.peek_inbox(session_inbox(self._joined.session.id), limit=5)
        if items:
            chosen = self._random.choice(items)
            receipt = await self._services.mail.settle(chosen.message.id, self._joined.identity)
            # The delivery may have been withdrawn or evicted between the look and this call.
            if any(copy.id == chosen.delivery.id and copy.state is HANDLED for copy in receipt.deliveries):
                self._note("settled", chosen.message.id)

    async def _archive(self) -> None:
        if self._answered:
            message_id = self._answered.pop()
            await self._services.dialogue.archive(message_id, self._joined.identity)
            self._note("archived", message_id)

    async def _withdraw(self) -> None:
        if self._sent:
            message_id = self._sent.pop()
            receipt = await self._services.mail.withdraw(message_id, self._joined.identity)
            if all(copy.state is WITHDRAWN for copy in receipt.deliveries):
                self._note("withdrawn", message_id)

    async def _judge(self) -> None:
        scope = self._random.choice(SCOPES)
        reason = "chaos" if self._random.random() < 0.1 else None
        await self._services.dialogue.sweep(scope, self._joined.identity, reason)

    async def _live_on(self) -> None:
        await self._services.directory.heartbeat(self._joined.identity)
        await self._services.upkeep.tend()

    async def _come_back(self) -> None:
        await self._services.directory.leave(self._joined.identity)
        await self.begin()

    async def _clean_up(self) -> None:
        """Prune messages that were closed a moment ago, while other agents continue."""
        before = self._services.clock.now() - timedelta(seconds=self._random.choice((0.1, 1)))
        await self._prune.prune(PruneRequest(before), self._joined.identity, _tell_nobody)

    def _draft(self, kind: Kind, *to: AgentName) -> Draft:
        return Draft(
            kind,
            tuple(parse_address(name) for name in to),
            (TextPart("word " * self._random.randrange(1, 200)),),
            id=self._ids.message_id(self._services.clock.now()),
            scope=self._random.choice((None, *SCOPES)),
            expects_reply=kind is Kind.REQUEST,
        )

    async def _deliver(self, draft: Draft) -> None:
        receipt = await self._services.mail.send(draft, self._joined.identity, SendPolicy())
        self._diary.sent(Sent(self._name, draft, tuple(copy.id for copy in receipt.deliveries)))
        self._sent.append(receipt.message_id)

    def _note(self, what: str, message_id: MessageId) -> None:
        self._diary.done(Done(what, message_id, self._name))


def _tell_nobody(_done: int, _of: int | None) -> None: ...
