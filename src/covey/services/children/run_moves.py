"""Moves of a run: its record and the journal, and the loss of a run whose session ends."""

from covey.core.directory.session import Session
from covey.core.ledger.delivery import WAITING, Move
from covey.core.ledger.event import Action
from covey.core.names import AgentName, message_topic
from covey.core.work.run import Run, RunMove, run_moved, run_topic
from covey.services.act import Act, journal, shift

RUN_IS_OVER = "its run is over"


async def shift_run(act: Act, run: Run, move: RunMove, reason: str | None = None) -> Run:
    """Move a run along its state table, and journal the move."""
    after = run_moved(run, move, act.now, reason)
    await act.tx.runs.put(after)
    await journal(
        act,
        Action.RUN_MOVED,
        message_id=run.request,
        agent=run.agent,
        scope=None,
        run=run.id,
        **{"from": str(run.state), "move": str(move), "to": str(after.state)},
        reason=reason,
    )
    act.tx.ring(run_topic(run.id))
    act.tx.ring(message_topic(run.request))
    return after


async def lose_run(act: Act, session: Session, reason: str) -> None:
    """Mark the run of an ending session as lost. Its request is not passed on to other sessions. Upkeep notifies its
    parent later."""
    run = await act.tx.runs.of_session(session.id)
    if run is None:
        return
    if not run.has_ended:
        await shift_run(act, run._replace(is_told=False), RunMove.LOSE, reason)
    for copy in await act.tx.deliveries.of_message(run.request):
        if copy.session == session.id and copy.state in WAITING:
            await shift(act, copy, Move.SETTLE, RUN_IS_OVER)
    await unbind_run(act, run)


async def unbind_run(act: Act, run: Run) -> None:
    """Remove the binding of a run's conversation."""
    if run.thread is None:
        return
    from covey.services.channels.conversations import unbind_conversation  # imported late because few runs have one

    binding = await act.tx.bindings.get(AgentName(run.thread.channel), run.thread.session_id)
    if binding is not None and binding.to.value == run.session:
        await unbind_conversation(act, binding)
