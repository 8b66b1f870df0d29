"""The end of a task, for a command that waited for it: the result on stdout, and an exit code for each end."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.json import Json
from covey.core.ledger.message import has_files
from covey.core.work.task import TaskState
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, FAILED, REJECTED, UNAVAILABLE
from covey.surfaces.cli.tasks.document import task_document
from covey.surfaces.cli.tasks.naming import name_of, number_of
from covey.surfaces.cli.tasks.story import said
from covey.surfaces.cli.terminal.letters import one_line
from covey.surfaces.cli.views.documents import message_document
from covey.surfaces.cli.views.headline import extras

EXITS: Final[Mapping[TaskState, int]] = {
    TaskState.COMPLETED: DONE,
    TaskState.REJECTED: REJECTED,
    TaskState.FAILED: FAILED,
}

EXIT_HELP: Final = """\
exit codes:
  0    completed
  4    not finished yet: it goes on; `covey task ID --wait 1h` waits on
  5    rejected
  6    failed, cancelled, or its deadline passed
  130  Ctrl-C: it goes on all the same"""


def exit_of(view: TaskView) -> int:
    """Return the exit code for the state of a task."""
    return EXITS.get(view.task.state, UNAVAILABLE)


def show_ending(call: Call, view: TaskView, lead: str) -> None:
    """Write the result of a task, or why there is none and how to look again."""
    output, task = call.output, view.task
    if output.as_json:
        output.json(_document(call, view))
        return
    name = call.run(name_of(call.services, task))
    if not task.is_finished:
        output.note(f"{lead}. The task goes on; look again, wait on or take it back with:")
        for words in (["task", name], ["task", name, "--wait", "1h"], ["cancel", name, "--from", task.delegator]):
            output.note("  " + shlex.join(again(call, words)))
        return
    result = call.run(said(call.services, task.result))
    if task.state is not TaskState.COMPLETED:
        word = "was rejected" if task.state is TaskState.REJECTED else "has failed"
        output.note(f"Task {name} {word}: {one_line(task.reason or 'no reason was given')}.")
        output.note(f"More of it: {shlex.join(again(call, ['task', name]))}")
    elif result is not None and result.text:
        output.text(result.text)
    for line in extras(result) if result else ():
        output.note(f"With it came: {line}")
    if result and has_files(result.parts):
        output.note(f"Save files with: {shlex.join(again(call, ['task', name, '--save', 'FOLDER']))}")


def again(call: Call, words: Sequence[str]) -> Sequence[str]:
    """Return a command line for the same space."""
    return ["covey", *words, *(("--store", call.options.store) if call.options.store else ())]


def _document(call: Call, view: TaskView) -> dict[str, Json]:
    task = view.task
    result = call.run(said(call.services, task.result))
    return {
        "id": task.id,
        "state": str(task.state),
        "reason": task.reason,
        "text": result.text if result and task.state is TaskState.COMPLETED else None,
        "result": message_document(result) if result else None,
        "task": task_document(view, call.run(number_of(call.services, task))),
        "resume": None if task.is_finished else list(again(call, ["task", task.id, "--wait", "1h"])),
    }
