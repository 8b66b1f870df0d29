"""Covey: messaging and coordination for LLM agents.

    async with covey.open() as space:
        me = await space.join("coder")
        receipt = await me.send("critic", "The parser is done.")
        outcome = await me.ask("critic", "Shall I merge it?", timeout=30)

The names below are loaded on first use, so that a short-lived program loads only the modules that it needs.
"""

from covey.core.late import late_names

_HOMES = {
    "Approval": "covey.core.work.approval",
    "ApprovalState": "covey.core.work.approval",
    "Assignment": "covey.surfaces.python.assignment",
    "Card": "covey.core.directory.card",
    "CoveyError": "covey.core.errors",
    "Delegated": "covey.surfaces.python.delegated",
    "Delivery": "covey.surfaces.python.inbox",
    "Errand": "covey.surfaces.python.member",
    "Failure": "covey.runtime.tasks.results",
    "Happening": "covey.surfaces.python.happenings",
    "Inbox": "covey.surfaces.python.inbox",
    "Injected": "covey.core.injection.injection",
    "Member": "covey.surfaces.python.member",
    "Moment": "covey.runtime.tasks.events",
    "NotFound": "covey.core.errors",
    "Outcome": "covey.core.ledger.outcome",
    "OutcomeKind": "covey.core.ledger.outcome",
    "Pending": "covey.core.attention.pending",
    "Receipt": "covey.surfaces.python.receipt",
    "Rejected": "covey.core.errors",
    "Result": "covey.runtime.tasks.results",
    "Run": "covey.core.work.run",
    "RunResult": "covey.services.children.spawning",
    "RunState": "covey.core.work.run",
    "Space": "covey.surfaces.python.space",
    "Spawned": "covey.surfaces.python.spawned",
    "Toolbox": "covey.toolkits.toolbox",
    "Turn": "covey.surfaces.python.turn",
    "Unavailable": "covey.core.errors",
    "Verdict": "covey.core.ledger.gate",
    "Worker": "covey.runtime.tasks.worker",
    "__version__": "covey.version",
    "open": "covey.surfaces.python.space",
    "take_out": "covey.surfaces.python.turn",
}

# The names come from __getattr__; __init__.pyi beside this file gives their types.
# pyright: reportUnsupportedDunderAll=false
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


__getattr__ = late_names(__name__, _HOMES)
