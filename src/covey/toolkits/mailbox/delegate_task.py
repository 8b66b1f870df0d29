"""delegate_task: hand work to another agent. Its progress and its result come as messages."""

from collections.abc import Sequence
from typing import Final, cast

from covey.core.json import Json
from covey.core.plain import plain_object
from covey.core.times import parse_instant
from covey.core.work.task import TaskState
from covey.toolkits.answers import as_json
from covey.toolkits.arguments import given_text
from covey.toolkits.mailbox.documents import task_document
from covey.toolkits.mailbox.parts import read_callback, read_part
from covey.toolkits.tasks import ALONE, Work, hand_over
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    written = cast(Sequence[Json], arguments["parts"])
    deadline, callback, metadata = (arguments.get(name) for name in ("deadline", "callback", "metadata"))
    work = Work(
        parts=tuple([await read_part(part, caller.services.attachments) for part in written]),
        deadline=None if deadline is None else parse_instant(deadline),
        callback=None if callback is None else read_callback(callback),
        metadata={} if metadata is None else plain_object(metadata, "metadata"),
    )
    for_task = given_text(arguments, "for_task")
    view = await hand_over(caller, str(arguments["to"]), work, for_task, DELEGATE_TASK.name)
    document = task_document(view)
    if view.task.state is TaskState.REJECTED:
        return as_json({**document, "delivery": f"refused: {view.task.reason}"}, is_error=True)
    is_there = (await caller.services.directory.agent(view.task.agent)).sessions
    return as_json({**document, "delivery": "delivered" if is_there else "waits until it is back"})


DELEGATE_TASK: Final = Tool(
    name="delegate_task",
    description=(
        "Hand work to an agent. You don't wait: whether it is accepted, how far it is and its result come as messages "
        "to you. While you work on a task of your own, the new one is a part of it."
    ),
    parameters=(
        Parameter("to", "agent_id of the agent that is to do it", is_required=True),
        Parameter("parts", "what is to be done, as in send_message", Form.OBJECTS, is_required=True),
        Parameter("deadline", "when it must be finished: ISO 8601 with a zone"),
        Parameter("callback", "the conversation that the result belongs to: channel and session_id", Form.OBJECT),
        Parameter("metadata", "more about it, for programs", Form.OBJECT),
        Parameter(
            "for_task",
            f"number or id of your task, or of the message, that this is for; {ALONE} if it is for neither",
            Form.MESSAGE,
        ),
    ),
    run=_run,
)
