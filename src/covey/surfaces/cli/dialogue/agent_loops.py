"""The verbs `messages-*` for agent loops: their arguments, JSON and error codes were agreed on elsewhere."""

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Final

from covey.core.errors import CoveyError, Invalid, MessageTooLarge
from covey.core.formats.dialogue import dialogue_document
from covey.core.identity import Address, AddressKind, Identity
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.outcome import ReceiptRecord
from covey.core.limits import MAX_DIALOGUE_BODY_BYTES
from covey.core.names import MessageId, known_scope, known_subject, parse_agent_name, parse_message_id, parse_subject
from covey.services.mail.inbox import InboxFilter
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE, REFUSED
from covey.surfaces.cli.options.drafts import read_text
from covey.surfaces.cli.times import parse_when
from covey.surfaces.cli.views.documents import delivery_document

_SAME: Final[Mapping[str, str]] = {
    "message-unknown": "messages-not-found",
    "message-pruned": "messages-not-found",
    "message-too-large": "messages-body-too-large",
    "file-outside-roots": "messages-body-file-not-allowed",
}
"""Codes of loops, by Covey's own code."""

_WRONG: Final[Mapping[str, str]] = {
    "agent name": "messages-invalid-agent",
    "message id": "messages-invalid-id",
    "round": "messages-invalid-round",
    "--round": "messages-invalid-round",
    "--kind": "messages-invalid-kind",
    "time": "messages-invalid-since",
    "file": "messages-body-file-read-failed",
}
"""Codes of loops for a wrong value, by the name of the value."""

_MISSING: Final[Mapping[str, str]] = {
    "id": "messages-missing-id",
    "from": "messages-invalid-agent",
    "to": "messages-invalid-agent",
    "agent": "messages-invalid-agent",
    "kind": "messages-invalid-kind",
    "phase": "messages-missing-phase",
    "subject": "messages-missing-subject",
    "body": "messages-missing-body",
    "in-reply-to": "messages-response-needs-in-reply-to",
}
"""Codes of loops for a missing value, by the name of the value."""

_OPTION: Final = re.compile(r"argument (--[a-z-]+)[:/]")


def loop_code(error: CoveyError) -> str:
    """Return the loops' code for an error, or Covey's own code if loops have none."""
    if not isinstance(error, Invalid):
        return _SAME.get(error.code, error.code)
    option = _OPTION.match(error.rule)
    what = option[1] if option else error.what
    if error.details.get("value") == repr(None):
        return _MISSING.get(what, error.code)
    return _WRONG.get(what, error.code)


def add_message(parser: ArgumentParser, about: str) -> None:
    """Add the id of a message, as a positional argument or as --id, to a verb of agent loops."""
    parser.add_argument("id", metavar="ID", nargs="?", help=about)
    parser.add_argument("--id", dest="named_id", metavar="ID", help="the same, as an option")


def message_given(options: Namespace) -> MessageId:
    """Return the message id that was given by position or as --id."""
    given = options.id or options.named_id
    if given is None:
        raise Invalid("id", None, "name the message by its id")
    return parse_message_id(given)


_NEEDED = ("to", "kind", "subject", "phase")
_KINDS = (Kind.REQUEST, Kind.RESPONSE, Kind.NOTIFY)


def _messages_send_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--as", "--from", dest="sender", metavar="AGENT", help="the agent that sends it")
    parser.add_argument("--to", metavar="AGENT", help="whom it is for")
    parser.add_argument("--phase", "--task", dest="phase", metavar="TASK", help="the task that it is about")
    parser.add_argument("--round", type=int, metavar="N", help="the round of the task")
    parser.add_argument("--kind", choices=[str(kind) for kind in _KINDS])
    parser.add_argument("--subject", help="a topic in kebab-case; an answer may have the one of its request")
    body = parser.add_mutually_exclusive_group()
    body.add_argument("--body", metavar="TEXT", help="what to say; - reads stdin")
    body.add_argument("--body-file", metavar="PATH", help="a file under this folder with what to say")
    parser.add_argument("--expects-reply", action="store_true", help="a request that must be answered and archived")
    parser.add_argument("--in-reply-to", metavar="ID", help="the message that it answers")


def _run_messages_send(call: Call) -> int:
    options = call.options
    for name, value in {"from": options.sender, **{name: getattr(options, name) for name in _NEEDED}}.items():
        if value is None:
            raise Invalid(name, None, f"messages-send needs --{name}")
    answers = options.in_reply_to or None
    if options.kind == Kind.RESPONSE and answers is None:
        raise Invalid("in-reply-to", None, "a response names the message that it answers")
    body = _body(call)
    if (size := len(body.encode(errors="surrogatepass"))) > MAX_DIALOGUE_BODY_BYTES:
        raise MessageTooLarge(size, MAX_DIALOGUE_BODY_BYTES)
    draft = Draft(
        kind=Kind(options.kind),
        to=(Address(AddressKind.AGENT, parse_agent_name(options.to)),),
        parts=(TextPart(body),),
        subject=known_subject(options.subject) if answers else parse_subject(options.subject),
        scope=known_scope(options.phase),
        round=options.round,
        in_reply_to=parse_message_id(answers) if answers else None,
        expects_reply=options.expects_reply,
    )
    policy = SendPolicy(when_unknown=WhenUnknown.REGISTER)
    receipt = call.run(call.services.mail.send(draft, call.actor(options.sender), policy))
    return _show_sent(call, receipt)


MESSAGES_SEND: Final = Verb(
    arguments=_messages_send_arguments,
    run=_run_messages_send,
    description="""\
Send a message of a task; write it as JSON, with its id and its deliveries. A name that nobody has yet becomes known,
unless the roster of the space is closed.""",
    examples="""\
examples:
  covey messages-send --from np-critic --to np-executor --phase T-1 --round 2 \\
    --kind request --subject style --body "did you mean it?" --expects-reply
  covey messages-send --from np-executor --to np-critic --phase T-1 --round 2 \\
    --kind response --subject style --body "yes" --in-reply-to ID""",
)


def _body(call: Call) -> str:
    """Return the body: the given text, stdin, or the content of a file."""
    options = call.options
    if options.body_file is not None:
        content = call.run(call.ports.files.load(options.body_file)).content
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise Invalid("file", options.body_file, "it is not UTF-8") from None
    if options.body is None:
        raise Invalid("body", None, "messages-send needs --body or --body-file")
    return read_text(options.body, call.output)


def _show_sent(call: Call, receipt: ReceiptRecord) -> int:
    message = dialogue_document(call.run(call.services.mail.message(receipt.message_id)))
    deliveries = [delivery_document(delivery) for delivery in receipt.deliveries]
    if receipt.delivered:
        shared = call.ports.shared_archive
        path = None if shared is None else shared.path_of(receipt.message_id)
        call.output.json({**message, "path": path, "deliveries": deliveries})
        return DONE
    code, _, reason = (receipt.deliveries[0].reason or "").partition(": ")
    call.output.json({"error": {"code": code, "message": reason, "details": {"id": receipt.message_id}}})
    return REFUSED


ANY_STATE = frozenset(DeliveryState)


def _messages_inbox_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--as", "--agent", dest="agent", metavar="NAME", help="the agent whose inbox is listed")
    parser.add_argument("--task", "--phase", dest="task", help="only messages of this task")
    parser.add_argument("--kind", choices=[str(kind) for kind in Kind], help="only messages of this kind")
    parser.add_argument("--since", metavar="TIME", help="only newer ones: 10m, 2h, 3d or an ISO time with a zone")


def _run_messages_inbox(call: Call) -> int:
    options = call.options
    if options.agent is None:
        raise Invalid("agent", None, "messages-inbox needs --agent")
    wanted = InboxFilter(
        scope=known_scope(options.task) if options.task else None,
        kind=Kind(options.kind) if options.kind else None,
        since=parse_when(options.since, call.services.clock.now()) if options.since else None,
        states=ANY_STATE,
    )
    items = call.run(call.services.dialogue.unarchived(parse_agent_name(options.agent)))
    call.output.json(
        [{**dialogue_document(item.message), "state": str(item.state)} for item in items if wanted.fits(item)]
    )
    return 0


MESSAGES_INBOX: Final = Verb(
    arguments=_messages_inbox_arguments,
    run=_run_messages_inbox,
    description="""\
List what an agent has not archived, as a JSON array: what waits for it, and the requests that it has answered and not
archived. Looking changes nothing.""",
    examples="""\
examples:
  covey messages-inbox --agent np-executor
  covey messages-inbox --agent np-executor --task T-1 --kind request --since 10m""",
)


def _messages_archive_arguments(parser: ArgumentParser) -> None:
    add_message(parser, "the message to put away")


def _run_messages_archive(call: Call) -> int:
    message_id = message_given(call.options)
    actor = _actor(call, message_id)
    call.run(call.services.dialogue.archive(message_id, actor, call.on_behalf(actor)))
    call.output.json({"archived": message_id})
    return 0


MESSAGES_ARCHIVE: Final = Verb(
    arguments=_messages_archive_arguments,
    run=_run_messages_archive,
    description="""\
Archive a message for its recipient; write {"archived": ID}. A request that expects a reply must have been answered.
Where nobody says who acts, it is the recipient.""",
)


def _actor(call: Call, message_id: MessageId) -> Identity:
    if call.is_identified:
        return call.actor()
    receipt = call.run(call.services.mail.receipt(message_id))
    recipients = sorted({delivery.agent for delivery in receipt.deliveries if delivery.agent is not None})
    if len(recipients) != 1:
        raise Invalid("agent", None, f"name the agent that archives it: --as {' or '.join(recipients) or 'NAME'}")
    call.run(call.services.dialogue.unarchived(recipients[0]))  # raises OrphanInbox if the recipient is not known
    return call.actor(recipients[0])


def _messages_thread_arguments(parser: ArgumentParser) -> None:
    add_message(parser, "any message of the chain")


def _run_messages_thread(call: Call) -> int:
    messages = call.run(call.services.dialogue.thread(message_given(call.options)))
    call.output.json([dialogue_document(message) for message in messages])
    return 0


MESSAGES_THREAD: Final = Verb(
    arguments=_messages_thread_arguments,
    run=_run_messages_thread,
    description="""\
List the whole reply chain that a message is in, as a JSON array in causal order, swept ones included.""",
)
