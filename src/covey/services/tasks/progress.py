"""Limit of progress updates: beyond the limit, the updates of a task have to keep a distance.

Each update is a message, and a program can send thousands in a second. Updates that follow soon after the previous one
are counted; beyond the limit of the space only updates with enough distance pass. Finishing the task is never refused.
"""

from covey.core.errors import ProgressStorm
from covey.core.identity import THE_SPACE
from covey.core.ledger.event import Action
from covey.core.ledger.message import Message
from covey.core.storms.budget import HURRY
from covey.core.storms.flow import Flow, Party, rested
from covey.core.storms.stop import Stop
from covey.core.work.task import Task
from covey.services.act import Act, journal
from covey.services.mail.updates import NoticePorts
from covey.services.storms.check import limits_of
from covey.services.storms.flows import add_stop, stops_at
from covey.services.storms.notices import tell_stopped


async def count_progress(act: Act, task: Task, message: Message, desk: NoticePorts) -> ProgressStorm | None:
    """Count an update of a task, or return why it is not accepted. The first time that is journalled, and the worker,
    the delegator and the operator are told."""
    party = Party(task.id)
    known = await act.tx.flows.get(party, party)
    if known is None or rested(known, act.now):
        known = Flow(party, party, act.now)
        is_hurried = False
    else:
        is_hurried = act.now - known.at < HURRY
    if is_hurried and known.exchanged >= (await limits_of(act.tx)).progress:
        return await _stop(act, task, message, known.exchanged, desk)
    await act.tx.flows.put(known._replace(at=act.now, exchanged=known.exchanged + is_hurried))
    return None


async def forget_progress(act: Act, task: Task) -> None:
    """Forget how often the progress of a task was told, now that it is finished."""
    await act.tx.flows.remove(Party(task.id))


async def _stop(act: Act, task: Task, message: Message, count: int, desk: NoticePorts) -> ProgressStorm:
    error = ProgressStorm(task.id, task.agent, count, HURRY.total_seconds())
    if not any(stop.id == task.id and stop.is_task for stop in await stops_at(act.tx, act.now)):
        await add_stop(act, Stop(task.id, (task.agent,), frozenset(), count, act.now))
        by_space = act._replace(actor=THE_SPACE)
        code, details = error.code, error.details
        await journal(by_space, Action.STORM_STOPPED, message_id=task.id, agent=task.agent, code=code, refusal=details)
        await tell_stopped(by_space, message, (task.agent,), error, desk, about=message)
    return error
