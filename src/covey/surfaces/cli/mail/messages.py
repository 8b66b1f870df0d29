"""The verbs that show messages, settled or not: `search` and `thread`."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Final

from covey.core.ledger.message import Kind, Message
from covey.core.names import known_scope, parse_agent_name
from covey.ports.ledger import MessageFilter
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.names import MESSAGE_HELP, message_of
from covey.surfaces.cli.terminal.layout import branches
from covey.surfaces.cli.terminal.text import one_line
from covey.surfaces.cli.times import age, parse_when, positive
from covey.surfaces.cli.views.documents import message_document
from covey.surfaces.cli.views.messages import about, extras, headline


def _search_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("words", metavar="WORD", nargs="+", help="the words to find; punctuation has no meaning")
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="only messages of this agent")
    parser.add_argument("--scope", help="only messages of this scope")
    parser.add_argument("--kind", choices=[str(kind) for kind in Kind], help="only messages of this kind")
    parser.add_argument("--since", metavar="TIME", help="only messages after a time: 10m, 2h, 3d or an ISO time")
    parser.add_argument("--limit", type=positive, default=20, metavar="N", help="show at most N messages (default 20)")
    parser.add_argument("--full", action="store_true", help="show whole snippets, instead of two lines of each")


def _run_search(call: Call) -> int:
    options = call.options
    now = call.services.clock.now()
    wanted = MessageFilter(
        scope=known_scope(options.scope) if options.scope else None,
        kind=Kind(options.kind) if options.kind else None,
        sender=parse_agent_name(options.sender) if options.sender else None,
        since=parse_when(options.since, now) if options.since else None,
    )
    found = call.run(call.services.history.search(" ".join(options.words), options.limit, wanted))
    if call.output.as_json:
        call.output.json([{**message_document(message), "snippet": snippet} for message, snippet in found])
    elif call.output.is_for_a_person and found:
        for message, snippet in found:
            call.output.pieces(*headline(message, now), margin="  ")
            call.output.pieces((one_line(snippet), ""), lead="  ", margin="  ", is_body=not options.full)
            call.output.pieces((message.id, "dim"), lead="  ", margin="  ")
    else:
        call.output.table(
            ("message", "age", "from", "about", "text"),
            [(m.id, age(m.created_at, now), str(m.sender), about(m), snippet) for m, snippet in found],
            "No message has these words.",
        )
    return DONE


SEARCH: Final = Verb(
    arguments=_search_arguments,
    run=_run_search,
    description="""\
Find messages by their words, the best match first: all words must be in the subject or the text. The search covers all
messages, archived or not. The matching words stand in «».""",
    examples="""\
examples:
  covey search flaky parser
  covey search flaky --from critic --scope T-17 --since 2d""",
)


def _thread_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=MESSAGE_HELP)
    parser.add_argument("--full", action="store_true", help="show whole texts, instead of two lines of each")


def _run_thread(call: Call) -> int:
    messages = call.run(call.services.dialogue.thread(message_of(call, call.options.id)))
    if call.output.as_json:
        call.output.json([message_document(message) for message in messages])
    elif call.output.is_for_a_person:
        _show(call, messages)
    else:
        for message, lead, _ in branches(messages):
            to = ", ".join(address.value for address in message.to)
            call.output.text(f"{lead}{message.kind} {message.sender} → {to}: {one_line(message.text)}  [{message.id}]")
    return DONE


THREAD: Final = Verb(
    arguments=_thread_arguments,
    run=_run_thread,
    description="""\
Show the whole thread of a message as a tree: each reply below the message that it answers, archived messages included.
At a terminal, a text is cut after two lines; --full shows all of it. With --json the messages are a list, causes before
effects.""",
    examples="""\
examples:
  covey thread 3 --as coder
  covey thread 1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b""",
)


def _show(call: Call, messages: Sequence[Message]) -> None:
    """Show the tree to a person."""
    now, is_full = call.services.clock.now(), call.options.full
    for message, lead, margin in branches(messages):
        call.output.pieces(*headline(message, now), lead=lead, margin=margin)
        body = message.text.splitlines() if is_full else filter(None, [one_line(message.text)])
        for line in (*body, *extras(message)):
            call.output.pieces((line, ""), lead=margin, margin=margin, is_body=not is_full)
        call.output.pieces((message.id, "dim"), lead=margin, margin=margin)
