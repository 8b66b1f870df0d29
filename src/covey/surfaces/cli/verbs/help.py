"""covey help."""

from argparse import ArgumentParser

from covey.core.errors import Invalid
from covey.core.text.wording import closest
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.catalogue import VERBS
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.overview import overview
from covey.surfaces.cli.topics import TOPICS, topic

DESCRIPTION = """\
Explain a verb or a topic. Without one: how to begin, and what there is."""
EXAMPLES = """\
examples:
  covey help start
  covey help ledger
  covey help send"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC", nargs="?", help="a verb, or one of: " + ", ".join(TOPICS))


def run(call: Call) -> int:
    name: str | None = call.options.topic
    page = overview() if name is None else _page(call, name)
    if call.output.as_json:
        call.output.json({"topic": name, "text": page})
    else:
        call.output.text(page.rstrip("\n"))
    return DONE


def _page(call: Call, name: str) -> str:
    if name in TOPICS:
        also = f"\n`covey {name} --help` explains the verb.\n" if name in VERBS else ""
        return topic(name) + also
    if name in VERBS:
        return call.parser_of(name).format_help()
    near = closest(name, {*TOPICS, *VERBS})
    hint = f"did you mean {' or '.join(near)}?" if near else "`covey help` lists the topics and the verbs"
    raise Invalid("topic", name, hint)
