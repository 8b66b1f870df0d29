"""Drafts: the message options that are the same for every verb that sends a message of its own."""

import sys
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from covey.core.directory.card import Card, encode_card, parse_card
from covey.core.directory.routing import WhenOffline
from covey.core.errors import Invalid, MessageTooLarge, NotFound
from covey.core.identity import parse_address
from covey.core.json import Json
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Part, TextPart
from covey.core.limits import MAX_ENVELOPE_BYTES
from covey.core.names import AgentName, parse_new_message_id, parse_scope, parse_subject
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.names import add_actor, message_of
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.times import parse_span

STDIN = "-"
EVERYBODY = "everyone"
"""A word for `*`, which a shell would replace by the names of files."""


class Addressed(NamedTuple):
    """The recipients of a message as they were typed, and its text."""

    to: Sequence[str]
    text: str | None
    """None if no text was given, so that it is read from stdin."""


def add_addressed_text(parser: ArgumentParser, whom: str, what: str) -> None:
    """Add the recipients and the text as positional arguments: `AGENT TEXT…`.

    With `--to`, the older form, all words are the text.
    """
    parser.add_argument("whom", metavar="AGENT", nargs="?", help=whom)
    add_text(parser, what)
    parser.add_argument("--to", action="append", help=SUPPRESS)


def add_text(parser: ArgumentParser, what: str) -> None:
    """Add the words of a text, for `joined_text`."""
    parser.add_argument("words", metavar="TEXT", nargs="*", help=f"{what}; - or no text reads stdin")


def joined_text(words: Sequence[str]) -> str | None:
    """Return the words of a text, joined by spaces, or None if there are none."""
    return " ".join(words) if words else None


def addressed(options: Namespace) -> Addressed:
    """Return the recipients and the text that a call names. There may be neither."""
    if options.to:
        words = options.words if options.whom is None else [options.whom, *options.words]
        return Addressed(options.to, joined_text(words))
    names = [] if options.whom is None else [name.strip() for name in options.whom.split(",")]
    if not options.words and any(" " in name for name in names):
        raise Invalid("recipient", options.whom, f"name it before the text: `covey {options.verb} AGENT TEXT`")
    return Addressed(["*" if name == EVERYBODY else name for name in names], joined_text(options.words))


def text_parts(given: str | None, output: Output, *, has_files: bool = False) -> tuple[TextPart, ...]:
    """Return the text of a message as its first part.

    Only a message with files may have no text. In that case a person who gave no text is not asked to type.
    """
    if given is None and has_files and _is_typed():
        return ()
    text = read_text(given, output, "attach what is not text with --file")
    if text.strip():
        return (TextPart(text),)
    if has_files:
        return ()
    raise Invalid("text", None, "give it as an argument or on stdin")


def read_text(given: str | None, output: Output, otherwise: str = "") -> str:
    """Return the given text, or stdin if it is "-" or missing. A person at a terminal is told to type.

    `otherwise` says how the verb sends what is not text.
    """
    if given is not None and given != STDIN:
        return given
    if sys.stdin is None:
        raise Invalid("text", None, "stdin is closed: give it as an argument")
    most = MAX_ENVELOPE_BYTES + 1  # one byte above the limit is enough to know that the text can't be sent
    if _is_typed():
        from covey.surfaces.cli.terminal.keyboard import typed_text  # imported late because most texts are arguments

        output.note("Type the message; Ctrl-D on a line of its own ends it.")
        content = typed_text(most)
    else:
        content = sys.stdin.buffer.read(most)
    if len(content) > MAX_ENVELOPE_BYTES:
        raise MessageTooLarge(len(content), MAX_ENVELOPE_BYTES)
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Invalid("text", content, f"stdin is not UTF-8{': ' if otherwise else ''}{otherwise}") from None


def _is_typed() -> bool:
    """Return True if stdin is a terminal, so that reading it waits for a person."""
    return sys.stdin is not None and sys.stdin.isatty()


def draft_arguments(parser: ArgumentParser) -> None:
    """Add the options of a message besides its text and its recipients."""
    add_actor(parser, "the agent that sends it")
    parser.add_argument("--subject", help="a topic in kebab-case")
    parser.add_argument("--scope", help="the task or topic it belongs to; `covey gate` checks a scope")
    parser.add_argument("--round", type=int, metavar="N", help="the round of the dialogue in its scope")
    parser.add_argument("--reply-to", metavar="ID", help="the message that it refers to")
    parser.add_argument("--expires", metavar="SPAN", help="drop it if it is not read within 10m, 2h, 3d")
    parser.add_argument("--file", metavar="PATH", action="append", default=[], help="attach a snapshot of a file")
    parser.add_argument("--id", metavar="ID", help="the id of the message; a repeated id sends nothing twice")
    parser.add_argument("--supersede", action="store_true", help="replace unread messages of this scope and subject")
    parser.add_argument("--register", action="store_true", help="register unknown recipients, and keep their mail")
    offline = parser.add_mutually_exclusive_group()
    offline.add_argument("--park", action="store_true", help="keep mail for an agent that is offline (default)")
    offline.add_argument("--refuse", action="store_true", help="refuse mail for an agent that is offline")


def draft_of(call: Call, is_request: bool) -> Draft:
    """Return the draft that a call describes: a request that expects a reply, or a notify."""
    options = call.options
    to, text = addressed(options)
    if not to:
        raise Invalid("recipient", None, f"name one: `covey {options.verb} AGENT TEXT`; `covey agents` lists them")
    recipients = tuple(parse_address(name) for name in to)
    parts: list[Part] = [*text_parts(text, call.output, has_files=bool(options.file))]
    parts += [call.run(call.services.attachments.snapshot(path)) for path in options.file]
    return Draft(
        kind=Kind.REQUEST if is_request else Kind.NOTIFY,
        to=recipients,
        parts=tuple(parts),
        id=parse_new_message_id(options.id) if options.id else None,
        subject=parse_subject(options.subject) if options.subject else None,
        scope=parse_scope(options.scope) if options.scope else None,
        round=options.round,
        in_reply_to=message_of(call, options.reply_to, options.sender) if options.reply_to else None,
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


def card_with(call: Call, name: AgentName | None, **given: Json) -> Card | None:
    """Return the agent's card with the given changes, or None if there are none."""
    changes = {field: value for field, value in given.items() if value is not None}
    if not changes:
        return None
    try:
        card = call.run(call.services.directory.agent(name)).card if name else Card()
    except NotFound:
        card = Card()
    known = encode_card(card)
    for field, value in changes.items():
        now = known[field]
        known[field] = {**now, **value} if isinstance(now, Mapping) and isinstance(value, Mapping) else value
    return parse_card(known)
