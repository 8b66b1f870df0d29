"""Notices of damaged mail: one per message, to the journal and to the operator."""

from collections.abc import Iterable

from covey.core.errors import MessageDamaged
from covey.core.identity import THE_SPACE
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.event import Action
from covey.core.ledger.message import DataPart, TextPart
from covey.core.names import OPERATOR
from covey.ports.ledger import EventFilter
from covey.ports.store import Transaction
from covey.services.act import Act, journal
from covey.services.mail.filing import NoticePorts, UpdateDraft
from covey.services.mail.notices import tell_of
from covey.services.mail.recipients import introduce
from covey.services.records import known_message, notice_of


async def is_reported(tx: Transaction, delivery: DeliveryRecord) -> bool:
    """Tell whether the journal records the message of a delivery as damaged."""
    wanted = EventFilter(message_id=delivery.message_id, action=Action.MESSAGE_DAMAGED)
    return bool(await tx.journal.read(0, 1, wanted))


async def report_damaged(act: Act, deliveries: Iterable[DeliveryRecord], notice_ports: NoticePorts) -> None:
    """Journal damaged messages that were found in an inbox, and tell the operator. The deliveries stay where they
    are."""
    for delivery in deliveries:
        if await is_reported(act.tx, delivery):
            continue
        try:
            await known_message(act.tx, delivery.message_id)
        except MessageDamaged as error:
            await _report(act._replace(actor=THE_SPACE), delivery, error, notice_ports)


async def _report(act: Act, delivery: DeliveryRecord, error: MessageDamaged, notice_ports: NoticePorts) -> None:
    await journal(
        act,
        Action.MESSAGE_DAMAGED,
        message_id=delivery.message_id,
        agent=delivery.agent,
        scope=delivery.scope,
        delivery=delivery.id,
        reason=error.message,
    )
    if await act.tx.agents.get(OPERATOR) is None:
        await introduce(act, OPERATOR)
    text = f"A message for {delivery.agent} can't be shown: {error.message}. {error.advice}"
    data = DataPart({"delivery": delivery.id, "state": "damaged", "agent": delivery.agent})
    about = notice_of(error, delivery.message_id, act.now)
    await tell_of(
        act,
        about,
        UpdateDraft(OPERATOR, None, (TextPart(text), data)),
        THE_SPACE,
        notice_ports.ids,
        notice_ports.liveness,
    )
