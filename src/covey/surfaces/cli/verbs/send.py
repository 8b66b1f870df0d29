"""covey send."""

from argparse import ArgumentParser

from covey.surfaces.cli.call import Call
from covey.surfaces.cli.options.drafts import draft_arguments, draft_of, policy_of
from covey.surfaces.cli.views.receipts import show_receipt

DESCRIPTION = "Send a message. When the command ends with 0 it is durable; the receipt says who has it and who has not."
EXAMPLES = """\
examples:
  covey send --from lead --to coder "The tests fail on main."
  git diff | covey send --from lead --to critic --request --scope T-17 -"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", nargs="?", help="what to say; - or nothing reads stdin")
    parser.add_argument("--to", metavar="WHOM", action="append", help="an agent, a session or *; may be repeated")
    parser.add_argument("--request", action="store_true", help="ask for an answer: a debt until it is archived")
    draft_arguments(parser)


def run(call: Call) -> int:
    draft = draft_of(call, is_request=call.options.request)
    actor = call.actor(call.options.sender)
    return show_receipt(call.output, call.run(call.services.mail.send(draft, actor, policy_of(call))))
