"""Notes on finished work in an answer: the worker, and the status of the work."""

from covey.core.attention import WorkNote
from covey.core.marks import Step
from covey.core.message import Message
from covey.core.run import Run, RunId, status_of


def run_of(answer: Message, request: Message) -> RunId | None:
    """Return the run that an answer, or else its request, belongs to; None if there is none."""
    for message in (answer, request):
        if message.marks is not None and message.marks.run is not None:
            return RunId(message.marks.run)
    return None


def is_work(request: Message) -> bool:
    """Tell whether a request is work that a coordinator gave to a worker."""
    return request.marks is not None and request.marks.step is Step.WORK


def work_note(answer: Message, request: Message, run: Run | None) -> WorkNote | None:
    """Return the note on finished work for an answer; None if it reports none. The caller has checked with the ledger
    that this is the answer that was owed."""
    if run is not None and (run.agent, run.session) == (answer.sender.agent, answer.sender.session):
        return WorkNote(str(run.label or run.key), status_of(answer), run.id, str(run.key))
    return WorkNote(answer.sender.agent, status_of(answer)) if is_work(request) else None
