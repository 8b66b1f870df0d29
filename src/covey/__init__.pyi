from covey.core.attention.injection import Injected as Injected
from covey.core.attention.pending import Pending as Pending
from covey.core.directory.card import Card as Card
from covey.core.directory.routing import Pause as Pause
from covey.core.errors import CoveyError as CoveyError
from covey.core.errors import NotFound as NotFound
from covey.core.errors import Rejected as Rejected
from covey.core.errors import Unavailable as Unavailable
from covey.core.ledger.outcome import Outcome as Outcome
from covey.core.ledger.outcome import OutcomeKind as OutcomeKind
from covey.core.ledger.outcome import Verdict as Verdict
from covey.core.storms.budget import Limits as Limits
from covey.core.work.approval import Approval as Approval
from covey.core.work.approval import ApprovalState as ApprovalState
from covey.core.work.run import Run as Run
from covey.core.work.run import RunState as RunState
from covey.runtime.tasks.execution import Moment as Moment
from covey.runtime.tasks.held_task import Failure as Failure
from covey.runtime.tasks.held_task import Result as Result
from covey.runtime.tasks.worker import Worker as Worker
from covey.services.care.status import AgentStatus as AgentStatus
from covey.services.care.status import SpaceStatus as SpaceStatus
from covey.services.children.spawning import RunResult as RunResult
from covey.surfaces.python.inbox import Delivery as Delivery
from covey.surfaces.python.inbox import Inbox as Inbox
from covey.surfaces.python.member import Errand as Errand
from covey.surfaces.python.member import Member as Member
from covey.surfaces.python.messages import Receipt as Receipt
from covey.surfaces.python.operator import Operator as Operator
from covey.surfaces.python.space import Space as Space
from covey.surfaces.python.space import open as open
from covey.surfaces.python.spawned import Spawned as Spawned
from covey.surfaces.python.tasks import Assignment as Assignment
from covey.surfaces.python.tasks import Delegated as Delegated
from covey.surfaces.python.tasks import WorkerEvent as WorkerEvent
from covey.surfaces.python.turn import Turn as Turn
from covey.surfaces.python.turn import take_out as take_out
from covey.toolkits.toolbox import Toolbox as Toolbox
from covey.version import __version__ as __version__

__all__ = [
    "AgentStatus",
    "Approval",
    "ApprovalState",
    "Assignment",
    "Card",
    "CoveyError",
    "Delegated",
    "Delivery",
    "Errand",
    "Failure",
    "Inbox",
    "Injected",
    "Limits",
    "Member",
    "Moment",
    "NotFound",
    "Operator",
    "Outcome",
    "OutcomeKind",
    "Pause",
    "Pending",
    "Receipt",
    "Rejected",
    "Result",
    "Run",
    "RunResult",
    "RunState",
    "Space",
    "SpaceStatus",
    "Spawned",
    "Toolbox",
    "Turn",
    "Unavailable",
    "Verdict",
    "Worker",
    "WorkerEvent",
    "__version__",
    "open",
    "take_out",
]
