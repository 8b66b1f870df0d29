"""Foreign sessions: sessions on the peers' wire, of foreign programs that have sent a message or are unknown here."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from covey.core.directory.session import SessionKind
from covey.core.errors import Unavailable
from covey.core.formats.peers import MAX_BODY_BYTES, in_envelope, inbox_message, inbox_subject
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.message import Message
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.names import SessionId
from covey.ports.channels import Wire
from covey.ports.store import Transaction
from covey.services.warning import debug, warn


class Publication(NamedTuple):
    """A message as it is published to one inbox on the wire."""

    session_id: SessionId
    payload: Mapping[str, Json]


class ForeignSessions:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def publications(self, tx: Transaction, message: Message, receipt: ReceiptRecord) -> Sequence[Publication]:
        """Return the publications of an accepted message: one for each inbox on the wire, in the form that its program
        uses."""
        found = [await _publication(tx, message, copy) for copy in receipt.deliveries if not copy.is_terminal]
        return [publication for publication in found if publication is not None]

    async def publish(self, message: Message, publications: Sequence[Publication]) -> None:
        """Publish a message. It also waits in the store, so that the receipt holds whether or not a program hears
        it."""
        for session_id, payload in publications:
            try:
                await self._wire.tell(session_id, json.dumps(payload, ensure_ascii=False).encode(), message.id)
            except Unavailable as error:
                warn("message %s could not be published to %s: %s", message.id, session_id, error.message)


async def _publication(tx: Transaction, message: Message, copy: DeliveryRecord) -> Publication | None:
    """Return the publication of one copy; None for the inbox of a session of this space, or for a body that is too
    large for the wire."""
    if copy.session is None:
        return None
    session = await tx.sessions.get(copy.session)
    if session is None:  # an unknown session: its id stands for the name
        name = str(copy.session)
    elif session.is_on_wire:
        agent = await tx.agents.get(session.agent)
        name = (agent.card.wire_name if agent is not None else None) or session.agent
    else:
        return None
    payload = inbox_message(message, name)
    if len(str(payload["body"]).encode()) > MAX_BODY_BYTES:
        debug("message %s is too large for the peers' wire", message.id)
        return None
    if session is not None and session.kind is SessionKind.WIRE_ENVELOPE:
        payload = in_envelope(message, inbox_subject(copy.session), payload)
    return Publication(copy.session, payload)
