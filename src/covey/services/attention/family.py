"""The family of a session: the children of one parent, and a session's own children. Its members see each other."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from covey.core.attention.pending import OtherAgent
from covey.core.directory.card import Presence
from covey.core.directory.session import Activity, Session
from covey.core.ids import SessionId
from covey.core.names import AgentName
from covey.core.work.run import Run
from covey.ports.store import Transaction
from covey.services.directory.directory import AgentView


class Relative(NamedTuple):
    """A live child of the same family."""

    session: Session
    run: Run
    name: str
    """The name it is addressed by: its label if that is unique, otherwise its session key."""

    @property
    def shown(self) -> OtherAgent:
        """The child as other agents see it."""
        presence = Presence.BUSY if self.session.activity is Activity.BUSY else Presence.IDLE
        return OtherAgent(self.name, presence, self.session.status, self.run.description)


async def relatives(
    tx: Transaction, session: Session, live: Iterable[Session], taken: Collection[str]
) -> Sequence[Relative]:
    """Return the live sessions of the same family, oldest first. A label that is in `taken`, or that several sessions
    carry, is not used as a name."""
    children = [other for other in live if not other.key.is_main and other.id != session.id]
    if not children:
        return ()
    own = None if session.key.is_main else await tx.runs.of_session(session.id)
    runs: dict[SessionId, Run] = {}
    for child in children:
        run = await tx.runs.of_session(child.id)
        if run is not None and (run.parent == session.id or (own is not None and _parent(run) == _parent(own))):
            runs[child.id] = run
    found = [child for child in children if child.id in runs]
    labels = [child.label for child in children]
    names: Mapping[SessionId, str] = {
        child.id: child.label
        if child.label is not None and labels.count(child.label) == 1 and child.label not in taken
        else str(child.key)
        for child in found
    }
    return [Relative(child, runs[child.id], names[child.id]) for child in found]


async def company(
    tx: Transaction, agent: AgentName, session: Session | None, views: Sequence[AgentView]
) -> Sequence[OtherAgent]:
    """Return the participants besides a session of an agent: the other agents by name, each followed by its sessions of
    the same family. A child sees the main session of its own agent as another participant."""
    live = [other for view in views for other in view.sessions]
    family: Sequence[Relative] = (
        () if session is None else await relatives(tx, session, live, [view.name for view in views])
    )
    is_child = session is not None and not session.key.is_main
    others: list[OtherAgent] = []
    for view in views:
        is_own = view.name == agent
        if view.sessions and (not is_own or (is_child and any(other.key.is_main for other in view.sessions))):
            others.append(OtherAgent(view.name, view.presence, view.status, view.card.description))
        if is_own or len(view.sessions) > 1:  # an agent whose only session is a child goes by its own name
            others += [relative.shown for relative in family if relative.session.agent == view.name]
    return others


def _parent(run: Run) -> tuple[str, SessionId | None]:
    return run.parent_agent, run.parent
