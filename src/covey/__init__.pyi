from covey.core.attention import Pending as Pending
from covey.core.card import Card as Card
from covey.core.errors import CoveyError as CoveyError
from covey.core.errors import NotFound as NotFound
from covey.core.errors import Rejected as Rejected
from covey.core.errors import Unavailable as Unavailable
from covey.core.gate import Verdict as Verdict
from covey.core.inject import Injected as Injected
from covey.core.outcome import Outcome as Outcome
from covey.core.outcome import OutcomeKind as OutcomeKind
from covey.surfaces.python.inbox import Delivery as Delivery
from covey.surfaces.python.inbox import Inbox as Inbox
from covey.surfaces.python.member import Member as Member
from covey.surfaces.python.receipt import Receipt as Receipt
from covey.surfaces.python.space import Space as Space
from covey.surfaces.python.space import open as open
from covey.surfaces.python.turn import Turn as Turn
from covey.surfaces.python.turn import take_out as take_out
from covey.toolkits.toolbox import Toolbox as Toolbox
from covey.version import __version__ as __version__

__all__ = [
    "Card",
    "CoveyError",
    "Delivery",
    "Inbox",
    "Injected",
    "Member",
    "NotFound",
    "Outcome",
    "OutcomeKind",
    "Pending",
    "Receipt",
    "Rejected",
    "Space",
    "Toolbox",
    "Turn",
    "Unavailable",
    "Verdict",
    "__version__",
    "open",
    "take_out",
]
