"""Records in which every field has a distinct value, made from the types of the fields.

No field is named here: a field that is added to a record is filled as well, and the tests of shapes see it.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from itertools import count
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from covey.core.identity import Address, SessionKey, main_key, parse_address
from covey.core.ledger.message import Callback
from covey.core.ledger.offer import EvidenceGrade, Extent, SeenParts, confirmed
from covey.core.names import (
    AgentName,
    DeliveryId,
    InboxId,
    MessageId,
    OfferId,
    SessionId,
    TicketId,
    delivery_id,
    session_inbox,
)
from covey.core.work.run import RunId
from covey.testing.fakes import numbered_uuid
from covey.testing.records import a_message_id, a_run_id, a_session_id, a_ticket, an_offer_id, at

R = TypeVar("R")

_SPECIAL: Mapping[object, Callable[[int], object]] = {
    MessageId: a_message_id,
    SessionId: a_session_id,
    OfferId: an_offer_id,
    RunId: a_run_id,
    DeliveryId: lambda n: delivery_id(a_message_id(n), n),
    TicketId: lambda n: a_ticket(n).id,
    InboxId: lambda n: session_inbox(a_session_id(n)),
    SessionKey: lambda n: main_key(AgentName(f"agent-{n}")).child(a_session_id(n)),
    Address: lambda n: parse_address(f"agent-{n}"),
    Callback: lambda n: Callback(f"channel-{n}", f"conversation-{n}", f'{{"more":{n}}}'),
    Extent: lambda n: Extent(n, n + 1, n + 2),
    SeenParts: lambda n: confirmed(None, Extent(n, n + 1, n + 2), EvidenceGrade.NAMED),
    datetime: at,
    timedelta: lambda n: timedelta(seconds=n),
    str: numbered_uuid,  # also for texts that must be a uuid
    int: lambda n: n,
    float: float,
}
"""Values of the types for which only some texts or numbers are valid. Each number gives a different value."""


def filled(record: type[R]) -> R:
    """Return a record in which no field is empty or equal to its default."""
    return _record(record, count(1))


def _record(record: Any, numbers: "count[int]") -> Any:
    hints, defaults = get_type_hints(record), record._field_defaults
    return record(**{name: _value(hints[name], numbers, defaults.get(name)) for name in record._fields})


def _value(hint: Any, numbers: "count[int]", default: object = None) -> Any:
    if get_origin(hint) in (Union, UnionType):
        return _value(next(member for member in get_args(hint) if member is not NoneType), numbers, default)
    if hint is bool:
        return not default
    if hint in _SPECIAL:
        return _SPECIAL[hint](next(numbers))
    if get_origin(hint) is tuple:
        inner = get_args(hint)[0]
        if inner is str:  # texts in lists are names
            return (f"name-{next(numbers)}",)
        return tuple(_value(member, numbers) for member in (get_args(inner) or (inner,)))
    if get_origin(hint) is Mapping:
        return {f"key-{next(numbers)}": next(numbers)}
    if hasattr(hint, "__supertype__"):
        return f"name-{next(numbers)}"
    if hasattr(hint, "_fields"):
        return _record(hint, numbers)
    return next(member for member in reversed(hint) if member != default)  # an enum
