"""SendMessageToWorker: continue a live worker, with its knowledge, instead of starting another one."""

from typing import Final

from covey.core.address import Address, AddressKind
from covey.core.errors import Invalid, SessionUnknown
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.work.run import RunMode
from covey.toolkits.answers import as_json, refused
from covey.toolkits.arguments import given_text
from covey.toolkits.coordinator.workers import worker_named
from covey.toolkits.leading import led
from covey.toolkits.outcomes import failures
from covey.toolkits.tool import Answer, Arguments, Caller, Parameter, Tool

HINT: Final = "ListWorkers shows those that are there; SpawnWorker starts one."


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    name, text = given_text(arguments, "worker"), given_text(arguments, "message")
    if name is None or text is None:
        raise Invalid("worker" if name is None else "message", None, "say which worker, and what it is to do")
    try:
        worker = await worker_named(caller, name.strip())
    except SessionUnknown as error:
        return refused(error, HINT)
    # A child in mode run answers once, at its end: messages before that go to its inbox.
    is_remark = worker.run is not None and worker.run.mode is RunMode.RUN
    draft = Draft(
        Kind.NOTIFY if is_remark else Kind.REQUEST,
        (Address(AddressKind.SESSION, worker.session.id),),
        (TextPart(text),),
        in_reply_to=worker.last,
        expects_reply=not is_remark,
    )
    receipt = await caller.services.work.give(await led(caller, draft), worker.session, caller.identity)
    status = "failed" if not receipt.delivered else "noted" if is_remark else "continued"
    notes = {
        "failed": " ".join(failures(receipt)),
        "noted": "It still works on its task, and finds this in its inbox. Its result comes as a task-notification.",
        "continued": "It goes on with what it knows. Its result comes as a task-notification.",
    }
    data = {
        "status": status,
        "worker": name.strip(),
        "sessionKey": str(worker.session.key),
        "runId": None if worker.run is None else worker.run.id,
        "note": notes[status],
    }
    return as_json({key: value for key, value in data.items() if value is not None}, is_error=status == "failed")


SEND_MESSAGE_TO_WORKER: Final = Tool(
    name="SendMessageToWorker",
    description=(
        "Continue a worker: it remembers what it has read and done, and goes on from there. You don't wait; "
        "its result comes as a task-notification."
    ),
    parameters=(
        Parameter("worker", "its name, session key or run id, as a task-notification has it", is_required=True),
        Parameter("message", "what it is to do next", is_required=True),
    ),
    run=_run,
)
