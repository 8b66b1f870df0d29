"""covey messages-send."""

from argparse import ArgumentParser

from covey.core.address import Address, AddressKind
from covey.core.errors import Invalid, MessageTooLarge
from covey.core.formats.dialogue import dialogue_document
from covey.core.ids import parse_message_id
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.receipt import Receipt
from covey.core.limits import MAX_DIALOGUE_BODY_BYTES
from covey.core.names import known_scope, known_subject, parse_agent_name, parse_subject
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, REFUSED
from covey.surfaces.cli.options.drafts import read_text
from covey.surfaces.cli.views.documents import delivery_document

DESCRIPTION = """\
Send a message of a task; write it as JSON, with its id and its deliveries. A name that nobody has yet becomes known,
unless the roster of the space is closed."""
EXAMPLES = """\
examples:
  covey messages-send --from np-critic --to np-executor --phase T-1 --round 2 \\
    --kind request --subject style --body "did you mean it?" --expects-reply
  covey messages-send --from np-executor --to np-critic --phase T-1 --round 2 \\
    --kind response --subject style --body "yes" --in-reply-to ID"""

NEEDED = ("to", "kind", "subject", "phase")
KINDS = (Kind.REQUEST, Kind.RESPONSE, Kind.NOTIFY)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who says it; only claimed")
    parser.add_argument("--to", metavar="AGENT", help="whom it is for")
    parser.add_argument("--phase", "--task", dest="phase", metavar="TASK", help="the task that it is about")
    parser.add_argument("--round", type=int, metavar="N", help="the round of the task")
    parser.add_argument("--kind", choices=[str(kind) for kind in KINDS])
    parser.add_argument("--subject", help="a topic in kebab-case; an answer may have the one of its request")
    body = parser.add_mutually_exclusive_group()
    body.add_argument("--body", metavar="TEXT", help="what to say; - reads stdin")
    body.add_argument("--body-file", metavar="PATH", help="a file under this folder with what to say")
    parser.add_argument("--expects-reply", action="store_true", help="a request that must be answered and archived")
    parser.add_argument("--in-reply-to", metavar="ID", help="the message that it answers")


def run(call: Call) -> int:
    options = call.options
    for name, value in {"from": options.sender, **{name: getattr(options, name) for name in NEEDED}}.items():
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
    return _show(call, receipt)


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


def _show(call: Call, receipt: Receipt) -> int:
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
