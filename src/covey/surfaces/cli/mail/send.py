"""The verbs of a sender: `send`, `reply` and `withdraw`."""

from argparse import SUPPRESS, ArgumentParser
from typing import Final

from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Part
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.options.drafts import (
    add_addressed_text,
    add_text,
    draft_arguments,
    draft_of,
    joined_text,
    policy_of,
    text_parts,
)
from covey.surfaces.cli.options.names import MESSAGE_HELP, add_actor, message_of
from covey.surfaces.cli.views.messages import show_receipt


def _send_arguments(parser: ArgumentParser) -> None:
    add_addressed_text(parser, "an agent, a session or everyone; several are separated by commas", "the message")
    parser.add_argument("--request", action="store_true", help="ask for an answer, which each recipient then owes")
    draft_arguments(parser)


def _run_send(call: Call) -> int:
    draft = draft_of(call, is_request=call.options.request)
    actor = call.actor(call.options.sender)
    return show_receipt(call.output, call.run(call.services.mail.send(draft, actor, policy_of(call))))


SEND: Final = Verb(
    arguments=_send_arguments,
    run=_run_send,
    description="""\
Send a message. If the exit code is 0, the message is durable. The receipt has one line for each recipient.""",
    examples="""\
examples:
  covey send coder "The tests fail on main." --as lead
  covey send coder,critic The tests fail on main. --as lead
  git diff | covey send critic - --as lead --request --scope T-17""",
)


def _reply_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help=MESSAGE_HELP)
    add_text(parser, "the answer")
    add_actor(parser, "the agent that answers")
    parser.add_argument("--file", metavar="PATH", action="append", default=[], help="attach a snapshot of a file")
    parser.add_argument("--keep-open", action="store_true", help="leave the question open until it is archived")
    parser.add_argument("--close", action="store_true", help=SUPPRESS)


def _run_reply(call: Call) -> int:
    options = call.options
    answered = message_of(call, options.id, options.sender)
    parts: list[Part] = [*text_parts(joined_text(options.words), call.output, has_files=bool(options.file))]
    parts += [call.run(call.services.attachments.snapshot(path)) for path in options.file]
    draft = Draft(Kind.RESPONSE, (), tuple(parts), in_reply_to=answered)
    actor = call.actor(options.sender)
    policy = SendPolicy(closes=not options.keep_open)
    return show_receipt(call.output, call.run(call.services.mail.send(draft, actor, policy)))


REPLY: Final = Verb(
    arguments=_reply_arguments,
    run=_run_reply,
    description="""\
Answer a message. The answer goes to the sender of the message, and the question is closed. With --keep-open the
question stays owed until `covey archive` closes it.""",
    examples="""\
examples:
  covey reply 3 "Yes: the old one hid a bug." --as coder
  make test 2>&1 | tail -20 | covey reply 3 --as tester
  covey reply 3 "I am on it." --as coder --keep-open""",
)


def _withdraw_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "id", metavar="ID", help="the message: its id, or a recipient and its number there, such as coder:3"
    )
    add_actor(parser, "the agent that sent it")


def _run_withdraw(call: Call) -> int:
    message_id = message_of(call, call.options.id, call.options.sender)
    show_receipt(call.output, call.run(call.services.mail.withdraw(message_id, call.actor(call.options.sender))))
    return DONE


WITHDRAW: Final = Verb(
    arguments=_withdraw_arguments,
    run=_run_withdraw,
    description="""\
Take a message back from every inbox whose owner was not shown it yet. Only its sender can do this. If every recipient
was shown the message, nothing can be taken back, and the exit code is 1.""",
    examples="""\
examples:
  covey withdraw coder:3 --as lead
  covey withdraw 1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b --as lead""",
)
