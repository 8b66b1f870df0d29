"""The shelf for an agent's copy of a message in a shared folder, which follows from the copy's state."""

from collections.abc import Sequence

from covey.core.authority import KEPT_OUT
from covey.core.delivery import WAITING, Delivery, DeliveryState
from covey.core.layout import Layout, Shelf
from covey.core.ticket import Ticket, TicketState

_NOWHERE = KEPT_OUT | {DeliveryState.ACCEPTED}


def standing(layout: Layout, copies: Sequence[Delivery], ticket: Ticket | None, *, is_swept: bool) -> Shelf | None:
    """Return the shelf for the copies of one agent; None if the agent never got the message, or it was withdrawn.

    In the dialogue layout, a request stays in the inbox until its debt is closed: an answer alone does not archive it.
    """
    arrived = [copy.state for copy in copies if copy.state not in _NOWHERE]
    if not arrived:
        return None
    if is_swept and layout is Layout.DIALOGUE:
        return Shelf.SWEPT
    is_owed = layout is Layout.DIALOGUE and ticket is not None and ticket.state is not TicketState.CLOSED
    return Shelf.INBOX if is_owed or any(state in WAITING for state in arrived) else Shelf.ARCHIVE
