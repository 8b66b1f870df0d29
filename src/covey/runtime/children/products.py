"""What came of a program, for whoever gets its answer."""

from datetime import timedelta
from typing import Final

from covey.core.run import RunState
from covey.ports.launcher import Ended, Ending
from covey.ports.launching import Product
from covey.runtime.programs.folders import RunFolder
from covey.runtime.programs.outcomes import outcome_of
from covey.runtime.programs.printed import read_printed
from covey.runtime.tasks.results import Failure, Result
from covey.services.attachments import Attachments

_STATES: Final = {
    Ending.TIMED_OUT: RunState.TIMED_OUT,
    Ending.STOPPED: RunState.STOPPED,
    Ending.ABANDONED: RunState.STOPPED,
    Ending.LOST: RunState.LOST,
}


async def product_of(
    name: str, ended: Ended, folder: RunFolder, attachments: Attachments, limit: float | None
) -> Product:
    """Return what a program made, as far as it came. The rules are those of `covey work`."""
    seconds = None if limit is None else timedelta(seconds=limit)
    outcome = await outcome_of(name, ended, folder, attachments, seconds)
    if isinstance(outcome, Result):
        return Product(RunState.COMPLETED, outcome.text, outcome.data, outcome.files)
    state = _STATES.get(ended.ending, RunState.FAILED)
    reason = ended.why or outcome.reason if state is RunState.STOPPED else outcome.reason
    return Product(state, _text(ended, outcome), outcome.data, outcome.files, reason)


def _text(ended: Ended, failure: Failure) -> str:
    """Return all that a parent should know. What was broken off may have printed a good part of its result."""
    printed = read_printed(ended.stdout) if ended.ending is not Ending.EXITED else None
    if printed is None or not printed.text:
        return failure.text or failure.reason
    return f"{failure.reason.partition(': ')[0]}.\n\nWhat it printed until then:\n{printed.text}"
