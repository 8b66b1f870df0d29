from covey.core.card import Card as Card
from covey.core.errors import CoveyError as CoveyError
from covey.core.errors import NotFound as NotFound
from covey.core.errors import Rejected as Rejected
from covey.core.errors import Unavailable as Unavailable
from covey.core.gate import Verdict as Verdict
from covey.core.outcome import Outcome as Outcome
from covey.core.outcome import OutcomeKind as OutcomeKind
from covey.surfaces.python.inbox import Delivery as Delivery
from covey.surfaces.python.inbox import Inbox as Inbox
from covey.surfaces.python.member import Member as Member
from covey.surfaces.python.receipt import Receipt as Receipt
from covey.surfaces.python.space import Space as Space
from covey.surfaces.python.space import open as open
from covey.version import __version__ as __version__

__all__ = [
    "Card",
    "CoveyError",
    "Delivery",
    "Inbox",
    "Member",
    "NotFound",
    "Outcome",
    "OutcomeKind",
    "Receipt",
    "Rejected",
    "Space",
    "Unavailable",
    "Verdict",
    "__version__",
    "open",
]
