"""ask_agent: ask and wait a while for the answer. After a timeout the wait can be resumed by a ticket."""

from typing import Final

from covey.core.errors import Invalid
from covey.core.ledger.body import body_of
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.outcome import Outcome, OutcomeKind
from covey.core.ledger.ticket import TicketState
from covey.core.text.escape import harmless
from covey.services.mail.recipients import SendPolicy
from covey.toolkits.arguments import LONGEST_WAIT, given_seconds, given_text
from covey.toolkits.leading import led
from covey.toolkits.others import other_party
from covey.toolkits.references import given_ticket, message_of, standing, was_named
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool
from covey.toolkits.wording import indented, said


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    seconds = given_seconds(arguments, "wait", LONGEST_WAIT)
    ticket, question, to = (given_text(arguments, name) for name in ("ticket", "question", "to"))
    if ticket is not None:
        if question is not None or to is not None:
            raise Invalid("ticket", ticket, "the question was asked already: give the ticket alone, to wait on")
        parsed = given_ticket(ticket, ASK_AGENT.name)
        return await _answer(caller, await caller.services.asks.resume(parsed, caller.identity, seconds))
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
    outcome = await caller.services.asks.ask(await led(caller, draft), caller.identity, SendPolicy(), seconds)
    if about is not None:
        await was_named(caller, about, ASK_AGENT.name)
    return await _answer(caller, outcome)


async def _answer(caller: Caller, outcome: Outcome) -> Answer:
    ticket = outcome.ticket
    data = {"outcome": str(outcome.kind), "ticket": ticket.id, "reason": outcome.reason}
    if outcome.answer is not None:
        body = harmless(body_of(outcome.answer))  # the whole body: returning it settles the delivery
        told = {"from": outcome.answer.sender.agent, "grade": str(outcome.answer.sender.grade), "text": body}
        return Answer(f"{outcome.answer.sender} answered:\n{indented(body)}", {**data, "answer": told})
    if outcome.kind is OutcomeKind.DELIVERED_NO_REPLY and ticket.state is not TicketState.CLOSED:
        text = (
            f"No answer yet: {ticket.debtor} {await standing(caller, ticket)}. The answer will come to your inbox; "
            f'to wait on, call ask_agent(ticket="{ticket.id}").'
        )
        return Answer(text, data)
    why = f": {said(outcome.reason)}" if outcome.reason else ""
    return Answer(f"{ticket.debtor} will not answer ({outcome.kind}){why}.", data, is_error=True)


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
        Parameter("wait", f"seconds, 0 to {LONGEST_WAIT:.0f}; 0 asks without waiting", Form.NUMBER),
        Parameter("reply_to", "number of the message that you ask back about, before you answer it", Form.MESSAGE),
    ),
    run=_run,
)
