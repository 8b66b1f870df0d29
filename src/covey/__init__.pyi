from covey.core.attention.pending import Pending as Pending
from covey.core.directory.card import Card as Card
from covey.core.errors import CoveyError as CoveyError
from covey.core.errors import NotFound as NotFound
from covey.core.errors import Rejected as Rejected
from covey.core.errors import Unavailable as Unavailable
from covey.core.injection.injection import Injected as Injected
from covey.core.ledger.gate import Verdict as Verdict
from covey.core.ledger.outcome import Outcome as Outcome
from covey.core.ledger.outcome import OutcomeKind as OutcomeKind
from covey.core.work.approval import Approval as Approval
from covey.core.work.approval import ApprovalState as ApprovalState
from covey.core.work.run import Run as Run
from covey.core.work.run import RunState as RunState
from covey.runtime.tasks.events import Moment as Moment
from covey.runtime.tasks.results import Failure as Failure
from covey.runtime.tasks.results import Result as Result
from covey.runtime.tasks.worker import Worker as Worker
from covey.services.children.spawning import RunResult as RunResult
from covey.surfaces.python.assignment import Assignment as Assignment
from covey.surfaces.python.delegated import Delegated as Delegated
from covey.surfaces.python.happenings import Happening as Happening
from covey.surfaces.python.inbox import Delivery as Delivery
from covey.surfaces.python.inbox import Inbox as Inbox
from covey.surfaces.python.member import Errand as Errand
from covey.surfaces.python.member import Member as Member
from covey.surfaces.python.receipt import Receipt as Receipt
from covey.surfaces.python.space import Space as Space
from covey.surfaces.python.space import open as open
from covey.surfaces.python.spawned import Spawned as Spawned
from covey.surfaces.python.turn import Turn as Turn
from covey.surfaces.python.turn import take_out as take_out
from covey.toolkits.toolbox import Toolbox as Toolbox
from covey.version import __version__ as __version__

__all__ = [
    "Approval",
    "ApprovalState",
    "Assignment",
    "Card",
    "CoveyError",
    "Delegated",
    "Delivery",
    "Errand",
    "Failure",
    "Happening",
    "Inbox",
    "Injected",
    "Member",
    "Moment",
    "NotFound",
    "Outcome",
    "OutcomeKind",
    "Pending",
    "Receipt",
    "Rejected",
    "Result",
    "Run",
    "RunResult",
    "RunState",
    "Space",
    "Spawned",
    "Toolbox",
    "Turn",
    "Unavailable",
    "Verdict",
    "Worker",
    "__version__",
    "open",
    "take_out",
]
