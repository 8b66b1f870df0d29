"""Drafts: what the command line may say of a message, the same for every verb that sends one of its own."""

from argparse import ArgumentParser

from covey.core.address import parse_address
from covey.core.draft import Draft
from covey.core.ids import parse_message_id, parse_new_message_id
from covey.core.message import Kind
from covey.core.names import parse_scope, parse_subject
from covey.core.parts import Part
from covey.core.routing import WhenOffline
from covey.services.recipients import SendPolicy, WhenUnknown
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.texts import text_parts
from covey.surfaces.cli.when import parse_span


def draft_arguments(parser: ArgumentParser) -> None:
    """Add what can be said of a message besides its text and its recipients."""
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who says it; only claimed")
    parser.add_argument("--subject", help="a topic in kebab-case")
    parser.add_argument("--scope", help="what it is about; the gate counts what is owed in a scope")
    parser.add_argument("--round", type=int, metavar="N", help="the round of the dialogue in its scope")
    parser.add_argument("--reply-to", metavar="ID", help="the message that it takes up")
    parser.add_argument("--expires", metavar="SPAN", help="not worth showing after 10m, 2h, 3d")
    parser.add_argument("--file", metavar="PATH", action="append", default=[], help="attach a snapshot of a file")
    parser.add_argument("--id", metavar="ID", help="send again with the same id, and nothing happens twice")
    parser.add_argument("--supersede", action="store_true", help="replace unread ones of this scope and subject")
    parser.add_argument("--register", action="store_true", help="make unknown recipients known, and park their mail")
    offline = parser.add_mutually_exclusive_group()
    offline.add_argument("--park", action="store_true", help="keep mail for an agent that is offline (default)")
    offline.add_argument("--refuse", action="store_true", help="refuse where nobody is live")


def draft_of(call: Call, is_request: bool) -> Draft:
    """Return the draft that a call describes: a request that expects a reply, or a notify."""
    options = call.options
    parts: list[Part] = [*text_parts(options.text, call.output, has_files=bool(options.file))]
    parts += [call.run(call.services.attachments.snapshot(path)) for path in options.file]
    return Draft(
        kind=Kind.REQUEST if is_request else Kind.NOTIFY,
        to=tuple(parse_address(whom) for whom in options.to or ()),
        parts=tuple(parts),
        id=parse_new_message_id(options.id) if options.id else None,
        subject=parse_subject(options.subject) if options.subject else None,
        scope=parse_scope(options.scope) if options.scope else None,
        round=options.round,
        in_reply_to=parse_message_id(options.reply_to) if options.reply_to else None,
        expects_reply=is_request,
        expires_at=call.services.clock.now() + parse_span(options.expires) if options.expires else None,
    )


def policy_of(call: Call) -> SendPolicy:
    """Return the policy that a call asks for."""
    return SendPolicy(
        when_offline=WhenOffline.REFUSE if call.options.refuse else WhenOffline.PARK,
        when_unknown=WhenUnknown.REGISTER if call.options.register else WhenUnknown.REFUSE,
        supersedes=call.options.supersede,
    )
