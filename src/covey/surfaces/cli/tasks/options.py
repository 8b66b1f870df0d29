"""Options of the verbs of tasks: how a command names a task, and the parts that it sends along."""

import json
import os
from argparse import ArgumentParser
from typing import Final

from covey.core.checks import plain
from covey.core.errors import Invalid, NotFound, TaskUnknown
from covey.core.ledger.message import DataPart, Message, Part
from covey.core.names import MessageId
from covey.core.work.task import Task
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.drafts import text_parts
from covey.surfaces.cli.options.names import is_number, message_of

TASK_VARIABLE: Final = "COVEY_TASK"
"""Environment variable with the id of the task that a program is run for."""

ATTEMPT_VARIABLE: Final = "COVEY_ATTEMPT"
"""Environment variable with the attempt at that task that the program is run for."""

TASK_HELP: Final = "the task: its id, coder:3, or a number in the inbox of who acts"
OWN_TASK_HELP: Final = f"{TASK_HELP}; by default ${TASK_VARIABLE}"


def task_of(call: Call, text: str | None, claimed: str | None = None) -> TaskView:
    """Return the task that `text` names, or the program's own task. An update also names its task."""
    message_id = _named(call, text or os.environ.get(TASK_VARIABLE), claimed)
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
    return int(number) if os.environ.get(TASK_VARIABLE) == task.id and is_number(number) else None


def _named(call: Call, text: str | None, claimed: str | None) -> MessageId:
    if text is None:
        raise Invalid("task", None, "name one; `covey tasks` lists them")
    return message_of(call, text, claimed)


def _message(call: Call, message_id: MessageId) -> Message:
    try:
        return call.run(call.services.mail.message(message_id))
    except NotFound:
        raise TaskUnknown(message_id) from None


async def task_number(services: Services, task: Task) -> int | None:
    """Return the number of a task in its agent's inbox, or None if it never arrived there."""
    receipt = await services.mail.receipt(task.id)
    return next((copy.number for copy in receipt.deliveries if copy.agent == task.agent and copy.number), None)


async def task_name(services: Services, task: Task) -> str:
    """Return the short name of a task, such as coder:3, or its id if it has no number."""
    number = await task_number(services, task)
    return f"{task.agent}:{number}" if number else task.id


def part_arguments(parser: ArgumentParser) -> None:
    """Add the options for files and data."""
    parser.add_argument("--file", metavar="PATH", action="append", default=[], help="attach a snapshot of a file")
    parser.add_argument("--data", metavar="JSON", help="data for programs, beside the text")


def parts_of(call: Call, text: str | None) -> tuple[Part, ...]:
    """Return the parts that a call describes. With data or files, the text may be missing."""
    options = call.options
    has_more = bool(options.file) or options.data is not None
    parts: list[Part] = [*text_parts(text, call.output, has_files=has_more)]
    if options.data is not None:
        parts.append(DataPart(_data(options.data)))
    parts += [call.run(call.services.attachments.snapshot(path)) for path in options.file]
    return tuple(parts)


def _data(text: str):
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise Invalid("data", text, f"it is no JSON: {error.msg.lower()} at character {error.pos + 1}") from None
    except RecursionError:
        raise Invalid("data", text, "it is nested too deep") from None
    return plain(value, "data")
