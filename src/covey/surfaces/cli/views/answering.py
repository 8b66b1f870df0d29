"""The answer to a question, for a command that waited for it: the text on stdout, or how to wait on."""

import shlex
import sys

from covey.core.ids import TicketId
from covey.core.json import Json
from covey.core.ledger.outcome import Outcome, OutcomeKind, settled_outcome
from covey.core.work.approval import Approval
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, REFUSED, UNAVAILABLE
from covey.surfaces.cli.terminal.letters import one_line
from covey.surfaces.cli.terminal.output import columns
from covey.surfaces.cli.views.approvals import approval_document
from covey.surfaces.cli.views.documents import message_document
from covey.surfaces.cli.views.headline import extras
from covey.surfaces.cli.views.ticket_document import ticket_document


def is_open(outcome: Outcome) -> bool:
    """Return True if an answer may still come."""
    return settled_outcome(outcome.ticket) is None


def answer_exit(outcome: Outcome) -> int:
    """Return the exit code for the state of a question."""
    if outcome.kind is OutcomeKind.REPLIED:
        return DONE
    return UNAVAILABLE if is_open(outcome) else REFUSED


def show_outcome(call: Call, outcome: Outcome, approval: Approval | None, lead: str) -> None:
    """Write the answer, or why there is none and how to wait on."""
    output = call.output
    if output.as_json:
        output.json(_document(call, outcome, approval))
    elif approval is not None and approval.answer is not None:
        output.text(f"{approval.state}: {one_line(approval.reason)}" if approval.reason else str(approval.state))
    elif outcome.answer is not None:
        output.text(outcome.answer.text)
        for line in extras(outcome.answer):
            output.note(f"With it came: {line}")
    elif is_open(outcome):
        show_way_on(call, outcome.ticket.id, lead)
    else:
        output.note(f"{outcome.ticket.debtor} will not answer: {outcome.kind}{_because(outcome)}.")


def show_way_on(call: Call, ticket: TicketId, lead: str) -> None:
    """Say that a question stays open, and show the command that waits on."""
    call.output.note(f"{lead}. The question stays open; wait on with:")
    call.output.note(_pasteable(resume_words(call, ticket)))


def _because(outcome: Outcome) -> str:
    return f", {outcome.reason}" if outcome.reason else ""


def _document(call: Call, outcome: Outcome, approval: Approval | None) -> dict[str, Json]:
    return {
        "outcome": str(outcome.kind),
        "reason": outcome.reason,
        "ticket": outcome.ticket.id,
        "text": outcome.text if outcome.answer else None,
        "answer": message_document(outcome.answer) if outcome.answer else None,
        "approval": approval_document(approval) if approval is not None else None,
        "debt": ticket_document(outcome.ticket),
        "resume": resume_words(call, outcome.ticket.id) if is_open(outcome) else None,
    }


def resume_words(call: Call, ticket: TicketId) -> list[str]:
    """Return the command that continues to wait for the same answer."""
    options = call.options
    given = (("--store", options.store), ("--agent", options.agent), ("--from", options.sender))
    said = [word for name, value in given if value for word in (name, value)]
    return ["covey", "ask", *said, "--ticket", ticket]


def _pasteable(words: list[str]) -> str:
    """Return a command that people can paste.

    It is on one line. If the terminal is too narrow, the last word goes to the next line.
    """
    *head, last = [shlex.quote(word) for word in words]
    line = "  " + " ".join([*head, last])
    is_narrow = sys.stderr.isatty() and len(line) > columns()
    return "  " + " ".join(head) + " \\\n    " + last if is_narrow else line
