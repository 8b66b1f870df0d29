"""covey search."""

from argparse import ArgumentParser

from covey.core.ledger.message import Kind
from covey.core.names import known_scope, parse_agent_name
from covey.ports.ledger import MessageFilter
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.when import age, parse_when, positive
from covey.surfaces.cli.terminal.letters import one_line
from covey.surfaces.cli.views.documents import message_document
from covey.surfaces.cli.views.headline import about, headline

DESCRIPTION = """\
Find messages by their words, best first: all words must be in the subject or the text. Everything that was ever
accepted is searched, put away or not. The words that fit stand in «»."""
EXAMPLES = """\
examples:
  covey search flaky parser
  covey search flaky --from critic --scope T-17 --since 2d"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("words", metavar="WORD", nargs="+", help="what to look for; punctuation has no meaning")
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="only what this agent said")
    parser.add_argument("--scope", help="only messages of this scope")
    parser.add_argument("--kind", choices=[str(kind) for kind in Kind], help="only messages of this kind")
    parser.add_argument("--since", metavar="TIME", help="only newer ones: 10m, 2h, 3d or an ISO time with a zone")
    parser.add_argument("--limit", type=positive, default=20, metavar="N", help="how many at most (default 20)")


def run(call: Call) -> int:
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
            call.output.pieces((one_line(snippet), ""), lead="  ", margin="  ")
            call.output.pieces((message.id, "dim"), lead="  ", margin="  ")
    else:
        call.output.table(
            ("message", "age", "from", "about", "text"),
            [(m.id, age(m.created_at, now), str(m.sender), about(m), snippet) for m, snippet in found],
            "Nothing has these words.",
        )
    return DONE
