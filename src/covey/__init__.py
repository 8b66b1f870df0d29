"""Covey: messaging and coordination for LLM agents.

    async with covey.open() as space:
        me = await space.join("coder")
        receipt = await me.send("critic", "The parser is done.")
        outcome = await me.ask("critic", "Shall I merge it?", timeout=30)

The names below are loaded on first use, so that a short-lived program loads only the modules that it needs.
"""

from covey.core.late import late_names

_HOMES = {
    "AgentStatus": "covey.services.care.status",
    "Approval": "covey.core.work.approval",
    "ApprovalState": "covey.core.work.approval",
    "Assignment": "covey.surfaces.python.tasks",
    "Card": "covey.core.directory.card",
    "CoveyError": "covey.core.errors",
    "Delegated": "covey.surfaces.python.tasks",
    "Delivery": "covey.surfaces.python.inbox",
    "Errand": "covey.surfaces.python.member",
    "Failure": "covey.runtime.tasks.held_task",
    "Inbox": "covey.surfaces.python.inbox",
    "Injected": "covey.core.attention.injection",
    "Limits": "covey.core.storms.budget",
    "Member": "covey.surfaces.python.member",
    "Moment": "covey.runtime.tasks.execution",
    "NotFound": "covey.core.errors",
    "Operator": "covey.surfaces.python.operator",
    "Outcome": "covey.core.ledger.outcome",
    "OutcomeKind": "covey.core.ledger.outcome",
    "Pause": "covey.core.directory.routing",
    "Pending": "covey.core.attention.pending",
    "Receipt": "covey.surfaces.python.messages",
    "Rejected": "covey.core.errors",
    "Result": "covey.runtime.tasks.held_task",
    "Run": "covey.core.work.run",
    "RunResult": "covey.services.children.spawning",
    "RunState": "covey.core.work.run",
    "Space": "covey.surfaces.python.space",
    "SpaceStatus": "covey.services.care.status",
    "Spawned": "covey.surfaces.python.spawned",
    "Toolbox": "covey.toolkits.toolbox",
    "Turn": "covey.surfaces.python.turn",
    "Unavailable": "covey.core.errors",
    "Verdict": "covey.core.ledger.outcome",
    "Worker": "covey.runtime.tasks.worker",
    "WorkerEvent": "covey.surfaces.python.tasks",
    "__version__": "covey.version",
    "open": "covey.surfaces.python.space",
    "take_out": "covey.surfaces.python.turn",
}

# The names come from __getattr__; __init__.pyi beside this file gives their types.
# pyright: reportUnsupportedDunderAll=false
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


__getattr__ = late_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
