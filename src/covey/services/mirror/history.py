"""History: files that foreign programs archived before the mirror existed become handled messages."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.core.formats.foreign_files import scope_of
from covey.core.formats.incoming import incoming
from covey.core.formats.layout import Paper, Shelf
from covey.core.ids import delivery_id, parked_inbox
from covey.core.ledger.delivery import Delivery, DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.wire import encode
from covey.core.names import AgentName
from covey.ports.folder import Visit
from covey.ports.store import Transaction
from covey.services.act import Act, journal
from covey.services.mail.filing import file
from covey.services.mail.recipients import introduce
from covey.services.mirror.ground import BY_OTHERS, Ground, foreigner
from covey.services.mirror.reading import Read, first_message, messages_called

BATCH: Final = 200
"""The number of files per commit."""


class _Found(NamedTuple):
    message: Message
    document: str
    agent: AgentName
    is_swept: bool


class History:
    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def take_in(self, visit: Visit, reads: Sequence[Read]) -> None:
        """File messages that are in an archive and not in the ledger. No notices are sent, no tickets are opened and no
        tasks begin. Raise CoveyError if one of them can't be filed; then none is."""
        now = self._ground.clock.now()
        found: list[_Found] = []
        called: dict[str, Message] = {}
        for read in reads:
            answered = called.get(read.paper.in_reply_to or "") or await self._answered(visit, read)
            message = incoming(_as_told(read.paper), read.message_id, foreigner(read.sender), read.agent, now, answered)
            spot = read.arrived.spot
            is_swept = spot.shelf is Shelf.SWEPT
            scope = message.scope or (scope_of(spot.scope) if is_swept else None)
            message = message._replace(expects_reply=False, scope=scope)
            found.append(_Found(message, encode(message), read.agent, is_swept))
            called[read.paper.id or message.id] = message

        async def operation(tx: Transaction) -> None:
            for one in found:
                if await tx.messages.get(one.message.id) is None:
                    await _keep(Act(tx, one.message.sender, now), one)

        await self._ground.store.commit(operation, is_long=True)

    async def _answered(self, visit: Visit, read: Read) -> Message | None:
        answers = await messages_called(visit, read.paper.in_reply_to, read.sender)
        return await self._ground.store.read(lambda tx: first_message(tx, answers)) if answers else None


def _as_told(paper: Paper) -> Paper:
    """Convert a task of the past into a notification: only its text is kept."""
    if paper.kind is not Kind.TASK:
        return paper
    return paper._replace(kind=Kind.NOTIFY, metadata={**paper.metadata, "type": str(Kind.TASK)})


async def _keep(act: Act, found: _Found) -> None:
    message = found.message
    for name in (message.sender.agent, found.agent):
        if await act.tx.agents.get(name) is None:
            await introduce(act, name)
    number = await act.tx.agents.next_number(found.agent)
    delivery = Delivery(
        delivery_id(message.id, 1),
        message.id,
        parked_inbox(found.agent),
        found.agent,
        DeliveryState.HANDLED,
        message.kind,
        message.sender.agent,
        False,
        act.now,
        0,
        number,
        message.scope,
        message.subject,
        reason=BY_OTHERS,
        archived_at=act.now,
    )
    await file(act, message, found.document, (delivery,), (), is_swept=found.is_swept)
    await journal(act, Action.DELIVERY_ARCHIVED, message_id=message.id, agent=found.agent, reason=BY_OTHERS)
