"""covey agents."""

from argparse import ArgumentParser

from covey.surfaces.cli.call import Call
from covey.surfaces.cli.documents import agent_document


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="the offline ones too")


def run(call: Call) -> int:
    views = call.run(call.services.directory.agents())
    shown = [view for view in views if call.options.all or call.output.as_json or view.sessions]
    if call.output.as_json:
        call.output.json([agent_document(view) for view in shown])
        return 0
    call.output.table(
        ("agent", "presence", "sessions", "about"),
        [(view.name, view.presence, str(len(view.sessions)), view.status or view.card.description) for view in shown],
        "Nobody is here. `covey agents --all` lists those that were.",
    )
    return 0
