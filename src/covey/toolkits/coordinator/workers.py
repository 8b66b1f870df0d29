"""Workers of a coordinator, by name: its children, and other live agents."""

from typing import NamedTuple

from covey.core.address import main_key, parse_session_key
from covey.core.directory.session import Session
from covey.core.errors import Invalid, LabelAmbiguous, NotFound, SessionUnknown
from covey.core.ids import MessageId
from covey.core.names import is_uuid_like, parse_agent_name, parse_label
from covey.core.work.run import Run
from covey.ports.work import RunFilter
from covey.toolkits.tool import Caller

MANY = 1_000
"""The number of children that are searched; the latest ones."""


class Worker(NamedTuple):
    """A live worker, and the last message between it and the coordinator."""

    session: Session
    run: Run | None
    """None if it is not a child of the coordinator."""
    last: MessageId | None


async def children(caller: Caller) -> list[Run]:
    """Return the children of the coordinator's agent, the oldest first."""
    found = await caller.services.runs.find(RunFilter(parent_agent=caller.identity.agent), MANY)
    return [view.run for view in found]


async def child_named(caller: Caller, name: str) -> Run | None:
    """Return a child by its label, session key, session id or run id; a running child is preferred to an ended one."""
    named = [run for run in await children(caller) if name in (run.label, str(run.key), run.session, run.id)]
    alive = [run for run in named if not run.has_ended]
    if len(alive) > 1:
        raise LabelAmbiguous(name, [str(run.key) for run in alive])
    return (alive or named or [None])[-1]


async def worker_named(caller: Caller, name: str) -> Worker:
    """Return a worker that can be continued. Raise Invalid with advice for a child that has ended, SessionUnknown for
    an unknown name."""
    run = await child_named(caller, name)
    if run is not None and run.has_ended:
        raise Invalid(
            "worker", name, f"it has ended ({run.state}), and does not stay: start a new one and tell it all it needs"
        )
    directory = caller.services.directory
    if run is not None:
        history = await caller.services.runs.history(run.id)
        own = [message.id for message in history if message.sender.agent in (run.agent, run.parent_agent)]
        return Worker(await directory.session(run.session), run, own[-1] if own else None)
    session = await _session(caller, name)
    if session.id == caller.identity.session:
        raise Invalid("worker", name, "that is you")
    last = await caller.services.work.last(session, caller.identity)
    return Worker(session, None, None if last is None else last.id)


async def _session(caller: Caller, name: str) -> Session:
    directory = caller.services.directory
    if name.startswith("agent:"):
        return await directory.keyed(parse_session_key(name))
    if not is_uuid_like(name):
        try:
            return await directory.labelled(parse_label(name))
        except SessionUnknown:
            pass
        try:
            return await directory.keyed(main_key(parse_agent_name(name)))
        except (Invalid, NotFound):
            pass
    raise SessionUnknown(name)
