"""The place for the result of a negotiation: the conversation in which people wait for it."""

from covey.core.authority import is_bound
from covey.core.binding import OWN
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.message import Callback
from covey.core.session import Session
from covey.ports.store import Transaction


async def result_place(tx: Transaction, to: Session, actor: Identity, led_by: MessageId | None) -> Callback | None:
    """Return the conversation of a child that is one of the two sessions, the only conversation that is bound to either
    of them, or the one that made the actor speak; None if there is none, or it is ambiguous."""
    for session_id in (to.id, actor.session):
        run = await tx.runs.of_session(session_id) if session_id is not None else None
        if run is not None and run.thread is not None:
            return run.thread
    # The holder of an agent's token may not see bindings.
    found = None if is_bound(actor) else await _bound(tx, to, actor)
    cause = await tx.messages.get(led_by) if found is None and led_by is not None else None
    return cause.callback if cause is not None else found


async def _bound(tx: Transaction, to: Session, actor: Identity) -> Callback | None:
    """Return the conversation that is bound to a session, or otherwise to its agent; None if there is none, or several,
    because a message to one person is not for another."""
    bindings = [binding for binding in await tx.bindings.all() if binding.conversation != OWN]
    own = await tx.sessions.get(actor.session) if actor.session is not None else None
    sessions = [session for session in (to, own) if session is not None]
    for names in (*({s.id, str(s.key)} for s in sessions), *({s.agent} for s in sessions)):
        found = [binding for binding in bindings if binding.to.value in names]
        if found:
            return Callback(found[0].channel, found[0].conversation) if len(found) == 1 else None
    return None
