"""Names of a task: its id, its agent and number, an update of it, or the environment of a program."""

import os
from typing import Final

from covey.core.errors import Invalid, NotFound, TaskUnknown
from covey.core.ids import MessageId
from covey.core.ledger.message import Message
from covey.core.work.task import Task
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.references import is_number, message_of

VARIABLE: Final = "COVEY_TASK"
"""Environment variable with the id of the task that a program is run for."""

ATTEMPT_VARIABLE: Final = "COVEY_ATTEMPT"
"""Environment variable with the attempt at that task that the program is run for."""

HELP: Final = "the task: its id, coder:3, or a number in the inbox of who acts"
HELP_OR_OWN: Final = f"{HELP}; by default ${VARIABLE}"


def task_of(call: Call, text: str | None, claimed: str | None = None) -> TaskView:
    """Return the task that `text` names, or the program's own task. An update also names its task."""
    message_id = _named(call, text or os.environ.get(VARIABLE), claimed)
    try:
        return call.run(call.services.tasks.view(message_id))
    except TaskUnknown:
        about = _message(call, message_id).task
        if about is None or about.id == message_id:
            raise
        return call.run(call.services.tasks.view(MessageId(about.id)))


def own_attempt(task: Task) -> int | None:
    """Return the attempt at a task that this program is run for, or None if it is not run for the task."""
    number = os.environ.get(ATTEMPT_VARIABLE, "")
    return int(number) if os.environ.get(VARIABLE) == task.id and is_number(number) else None


def _named(call: Call, text: str | None, claimed: str | None) -> MessageId:
    if text is None:
        raise Invalid("task", None, "name one; `covey tasks` lists them")
    return message_of(call, text, claimed)


def _message(call: Call, message_id: MessageId) -> Message:
    try:
        return call.run(call.services.mail.message(message_id))
    except NotFound:
        raise TaskUnknown(message_id) from None


async def number_of(services: Services, task: Task) -> int | None:
    """Return the number of a task in its agent's inbox, or None if it never arrived there."""
    receipt = await services.mail.receipt(task.id)
    return next((copy.number for copy in receipt.deliveries if copy.agent == task.agent and copy.number), None)


async def name_of(services: Services, task: Task) -> str:
    """Return the short name of a task, such as coder:3, or its id if it has no number."""
    number = await number_of(services, task)
    return f"{task.agent}:{number}" if number else task.id
