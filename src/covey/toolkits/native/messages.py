"""send_message, ask_agent and dismiss_message: tell others something, ask and wait for the answer, settle a message."""

from collections.abc import Sequence
from typing import Final, cast

from covey.core.errors import CoveyError, Invalid
from covey.core.identity import EVERYONE, Address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Message, Part, TextPart, body_of
from covey.core.ledger.outcome import Outcome, OutcomeKind, ReceiptRecord
from covey.core.ledger.ticket import TicketState
from covey.core.names import ticket_id
from covey.core.text.escape import harmless
from covey.core.work.approval import Decision
from covey.services.mail.recipients import SendPolicy
from covey.toolkits.agents import other_party
from covey.toolkits.answers import indented, outcome_data, outcome_lines, refused, said
from covey.toolkits.arguments import LONGEST_WAIT, given_seconds, given_text, given_texts
from covey.toolkits.references import check_answerable, given_ticket, message_of, progress_of, was_named, with_cause
from covey.toolkits.tasks import check_no_task
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer

POLICY: Final = SendPolicy(closes=True)


async def _send(caller: Caller, arguments: Arguments) -> ToolAnswer:
    text = given_text(arguments, "message")
    if text is None:
        raise Invalid("message", "", "say something")
    reference, to, files = (
        given_text(arguments, "reply_to"),
        given_text(arguments, "to"),
        given_texts(arguments, "files"),
    )
    if "approve" in arguments:
        if files:
            raise Invalid("files", files, "a decision can't have files: send them in a separate message")
        return await _decide(caller, reference, to, Decision(arguments["approve"] is True, text))
    parts: list[Part] = [TextPart(text), *[await caller.services.attachments.snapshot(path) for path in files]]
    if reference is None:
        draft = Draft(Kind.NOTIFY, await _recipients(caller, to), tuple(parts))
    else:
        answered = await _answered(caller, reference, to)
        draft = Draft(Kind.RESPONSE, (), tuple(parts), in_reply_to=answered.id)
    receipt = await caller.services.mail.send(await with_cause(caller, draft), caller.identity, POLICY)
    if draft.in_reply_to is not None:
        await was_named(caller, draft.in_reply_to, SEND_MESSAGE.name)
    return _receipt_answer(receipt)


async def _decide(caller: Caller, reference: str | None, to: str | None, decision: Decision) -> ToolAnswer:
    if reference is None:
        raise Invalid("approve", decision.approve, "say in reply_to which message you approve or reject")
    request = await _answered(caller, reference, to)
    receipt = await caller.services.approvals.decide(request.id, caller.identity, decision)
    await was_named(caller, request.id, SEND_MESSAGE.name)
    told = f"You {decision.word} what {request.sender.agent} asked for."
    return ToolAnswer(told, {**outcome_data(receipt), "decision": decision.word})


async def _recipients(caller: Caller, to: str | None) -> tuple[Address, ...]:
    if to is None:
        raise Invalid("to", None, "name an agent, or give reply_to to answer a message")
    if to.strip() == EVERYONE.value:
        return (EVERYONE,)
    return tuple([await other_party(caller, name, "to") for name in to.split(",") if name.strip()])


async def _answered(caller: Caller, reference: str, to: str | None) -> Message:
    message = await caller.services.mail.message(await message_of(caller, reference, "reply_to"))
    check_answerable(message, "reply_to")
    sender = message.sender.agent
    if to is not None and to.strip() != sender:
        raise Invalid("to", to, f"an answer goes to {sender}, who sent that message: leave `to` or reply_to out")
    return message


def _receipt_answer(receipt: ReceiptRecord) -> ToolAnswer:
    nobody = "No other agent is here now, so no agent got it."
    lines = [*outcome_lines(receipt)] or [nobody]
    return ToolAnswer("\n".join(lines), outcome_data(receipt), is_error=not receipt.delivered)


SEND_MESSAGE: Final = Tool(
    name="send_message",
    description=(
        "Tell other agents something, or answer a message. They read it at their next turn; you don't wait. To ask "
        "something, use ask_agent."
    ),
    parameters=(
        Parameter("message", "all that they need to know", is_required=True),
        Parameter("to", "name of an agent, several with commas, or * for all who are here"),
        Parameter("reply_to", "number of the message that you answer, instead of `to`", ParameterType.MESSAGE),
        Parameter("files", "paths of files to send along", ParameterType.TEXTS),
        Parameter("approve", "only in reply to a request for approval: true or false", ParameterType.FLAG),
    ),
    run=_send,
)


async def _ask(caller: Caller, arguments: Arguments) -> ToolAnswer:
    seconds = given_seconds(arguments, "wait", LONGEST_WAIT)
    ticket, question, to = (given_text(arguments, name) for name in ("ticket", "question", "to"))
    if ticket is not None:
        if question is not None or to is not None:
            raise Invalid("ticket", ticket, "the question was asked already: give the ticket alone, to wait on")
        parsed = given_ticket(ticket, ASK_AGENT.name)
        return await _outcome_answer(caller, await caller.services.asks.resume(parsed, caller.identity, seconds))
    if question is None:
        raise Invalid("question", None, "say what you want to know, or give the ticket of an earlier question")
    reference = given_text(arguments, "reply_to")
    about = None if reference is None else await message_of(caller, reference, "reply_to")
    if to is None and about is None:
        raise Invalid("to", None, "name the agent to ask")
    draft = Draft(
        Kind.REQUEST,
        () if to is None else (await other_party(caller, to, "to"),),
        (TextPart(question),),
        in_reply_to=about,
        expects_reply=True,
    )
    outcome = await caller.services.asks.ask(await with_cause(caller, draft), caller.identity, SendPolicy(), seconds)
    if about is not None:
        await was_named(caller, about, ASK_AGENT.name)
    return await _outcome_answer(caller, outcome)


async def _outcome_answer(caller: Caller, outcome: Outcome) -> ToolAnswer:
    ticket = outcome.ticket
    data = {"outcome": str(outcome.kind), "ticket": ticket.id, "reason": outcome.reason}
    if outcome.answer is not None:
        body = harmless(body_of(outcome.answer))  # the whole body: returning it settles the delivery
        told = {"from": outcome.answer.sender.agent, "grade": str(outcome.answer.sender.grade), "text": body}
        return ToolAnswer(f"{outcome.answer.sender} answered:\n{indented(body)}", {**data, "answer": told})
    if outcome.kind is OutcomeKind.DELIVERED_NO_REPLY and ticket.state is not TicketState.CLOSED:
        text = (
            f"No answer yet: {ticket.debtor} {await progress_of(caller, ticket)}. The answer will come to your inbox; "
            f'to wait on, call ask_agent(ticket="{ticket.id}").'
        )
        return ToolAnswer(text, data)
    why = f": {said(outcome.reason)}" if outcome.reason else ""
    return ToolAnswer(f"{ticket.debtor} will not answer ({outcome.kind}){why}.", data, is_error=True)


ASK_AGENT: Final = Tool(
    name="ask_agent",
    description=(
        f"Ask an agent something and wait up to {LONGEST_WAIT:.0f} seconds for the answer. If none comes, you get a "
        "ticket: call again with it to keep waiting, or go on: the answer also comes to your inbox."
    ),
    parameters=(
        Parameter("to", "name of the agent"),
        Parameter("question", "all that it needs to know to answer"),
        Parameter("ticket", "alone: keep waiting for the answer to an earlier question"),
        Parameter("wait", f"seconds, 0 to {LONGEST_WAIT:.0f}; 0 asks without waiting", ParameterType.NUMBER),
        Parameter(
            "reply_to", "number of the message that you ask back about, before you answer it", ParameterType.MESSAGE
        ),
    ),
    run=_ask,
)


async def _dismiss_each(caller: Caller, arguments: Arguments) -> ToolAnswer:
    references = cast(Sequence[str], arguments["messages"])
    lines: list[str] = []
    dismissed: list[str] = []
    for reference in references:
        try:
            lines.append(await _dismiss(caller, reference))
            dismissed.append(reference)
        except CoveyError as error:  # the other messages are still put away
            lines.append(f"{_shown(reference)}: {refused(error).text}")
    return ToolAnswer(
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
    parameters=(Parameter("messages", "their numbers, such as [3, 4]", ParameterType.MESSAGES, is_required=True),),
    run=_dismiss_each,
)
