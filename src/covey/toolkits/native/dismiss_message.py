"""dismiss_message: settle messages that need no answer."""

from collections.abc import Sequence
from typing import Final, cast

from covey.core.errors import CoveyError
from covey.core.ids import ticket_id
from covey.core.ledger.ticket import TicketState
from covey.toolkits.answers import refused
from covey.toolkits.references import message_of, was_named
from covey.toolkits.tasks import check_no_task
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool
from covey.toolkits.wording import said


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    references = cast(Sequence[str], arguments["messages"])
    lines: list[str] = []
    dismissed: list[str] = []
    for reference in references:
        try:
            lines.append(await _dismiss(caller, reference))
            dismissed.append(reference)
        except CoveyError as error:  # the other messages are still put away
            lines.append(f"{_shown(reference)}: {refused(error).text}")
    return Answer(
        "\n".join(lines) or "Nothing to do.", {"dismissed": dismissed, "notes": lines}, is_error=not dismissed
    )


async def _dismiss(caller: Caller, reference: str) -> str:
    message_id = await message_of(caller, reference)
    await check_no_task(caller, message_id, reference)
    await caller.services.mail.settle(message_id, caller.identity, "dismissed")
    await was_named(caller, message_id, DISMISS_MESSAGE.name)
    message = await caller.services.mail.message(message_id)
    told = f"{_shown(reference)} from {message.sender.agent} is put away"
    if not message.expects_reply:
        return f"{told}."
    ticket = await caller.services.dialogue.ticket(ticket_id(message_id, caller.identity.agent))
    if ticket.state is not TicketState.OPEN:
        return f"{told}."
    return f"{told}, but {message.sender.agent} still waits for an answer: send_message(reply_to={reference}, …)."


def _shown(reference: str) -> str:
    return f"#{reference}" if reference.isdecimal() else said(reference)


DISMISS_MESSAGE: Final = Tool(
    name="dismiss_message",
    description="Put away messages that need no answer, so that you are not shown them again.",
    parameters=(Parameter("messages", "their numbers, such as [3, 4]", Form.MESSAGES, is_required=True),),
    run=_run,
)
