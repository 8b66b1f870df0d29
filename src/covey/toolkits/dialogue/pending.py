"""pending: the requests that keep a task from ending, or those that the caller owes."""

from collections.abc import Sequence
from typing import Final

from covey.core.json import Json
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import known_scope
from covey.toolkits.answers import as_json
from covey.toolkits.tool import Answer, Arguments, Caller, Parameter, Tool


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    phase = arguments.get("phase")
    if phase is None:
        owed = await caller.services.dialogue.owed_by(caller.identity.agent)
        return as_json({"owed_by": caller.identity.agent, "pending": _requests(owed)})
    judged = await caller.services.dialogue.gate(known_scope(phase))
    return as_json(
        {
            "phase": judged.scope,
            "observed_pending_replies": len(judged.owed),
            "pending_subjects": list(judged.subjects),
            "pending": _requests(judged.owed),
        }
    )


def _requests(tickets: Sequence[Ticket]) -> Sequence[Json]:
    return [
        {
            "id": ticket.message_id,
            "from": ticket.asker,
            "to": ticket.debtor,
            "phase": ticket.scope,
            "subject": ticket.subject,
            "answered": ticket.state is TicketState.ANSWERED,
        }
        for ticket in tickets
    ]


PENDING: Final = Tool(
    name="pending",
    description=(
        "List the requests that keep a task from being committed: those without an answer, and those that are "
        "answered but not archived by their receiver. Without a phase: those that you have to answer or archive."
    ),
    parameters=(Parameter("phase", "id of the task"),),
    run=_run,
    is_read_only=True,
)
