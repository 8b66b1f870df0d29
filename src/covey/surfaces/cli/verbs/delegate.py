"""covey delegate."""

import os
from argparse import ArgumentParser
from collections.abc import Sequence

from covey.core.address import EVERYONE, Address, parse_address
from covey.core.directory.card import Presence
from covey.core.errors import Invalid, TaskUnknown
from covey.core.identity import Identity
from covey.core.ids import MessageId, parse_new_message_id
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Callback, Kind
from covey.core.names import parse_scope, parse_subject
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, INTERRUPTED
from covey.surfaces.cli.options.when import parse_deadline, parse_span
from covey.surfaces.cli.tasks.ending import EXIT_HELP, exit_of, show_ending
from covey.surfaces.cli.tasks.naming import VARIABLE, name_of, task_of
from covey.surfaces.cli.tasks.parts import part_arguments, parts_of

USUAL_WAIT = "1h"
DESCRIPTION = f"""\
Hand work to an agent. The task is durable as soon as it has an id; then the command waits for its end, shows how it
fares, and writes the result to stdout. With --no-wait it writes the id and ends. Within a program that `covey work`
runs, the task is a part of the one that the program is run for: hops, trace and callback go along.

{EXIT_HELP}"""
EXAMPLES = """\
examples:
  covey delegate "Fix the parser." --from lead --to coder --file parser.py
  task=$(covey delegate "Fix it." --from lead --to coder --no-wait)
  git diff | covey delegate - --from lead --to critic --deadline 2h --wait 10m"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", nargs="?", help="what is to be done; - or nothing reads stdin")
    parser.add_argument("--to", metavar="AGENT", action="append", required=True, help="who is to do it")
    parser.add_argument("--from", dest="sender", metavar="AGENT", help="who wants it; only claimed")
    part_arguments(parser)
    parser.add_argument(
        "--deadline", metavar="WHEN", help="it has failed after 10m, 2h, 3d, or an ISO time with a zone"
    )
    parser.add_argument(
        "--for", dest="whole", metavar="TASK", help=f"the task that it is a part of (default ${VARIABLE})"
    )
    parser.add_argument("--callback", metavar="CHANNEL:CONVERSATION", help="where people are told how it ended")
    parser.add_argument("--subject", help="a topic in kebab-case")
    parser.add_argument("--scope", help="what it is about")
    parser.add_argument("--id", metavar="ID", help="delegate again with the same id, and nothing happens twice")
    parser.add_argument("--register", action="store_true", help="make an unknown agent known: the task waits for it")
    waiting = parser.add_mutually_exclusive_group()
    waiting.add_argument("--wait", metavar="SPAN", default=USUAL_WAIT, help=f"for how long (default {USUAL_WAIT})")
    waiting.add_argument("--no-wait", action="store_true", help="write the id, and end")


def run(call: Call) -> int:
    seconds = parse_span(call.options.wait).total_seconds()
    # The id is made here, so that an interrupted caller knows the task at any stage.
    given, now = call.options.id, call.services.clock.now()
    task_id = parse_new_message_id(given) if given else call.ports.ids.message_id(now)
    draft = _draft(call, task_id)
    actor = call.actor(call.options.sender)
    try:
        view = _delegate(call, draft, actor, 0.0 if call.options.no_wait else seconds)
        if not view.task.is_finished and call.options.no_wait:
            return _show_id(call, view)
        if not view.task.is_finished and seconds > 0:
            from covey.surfaces.cli.live import run_live
            from covey.surfaces.cli.tasks.waiting import await_task

            call.output.step(_beginning(call, view))
            view = run_live(call, lambda services: await_task(services, call.output, task_id, actor, seconds))
    except KeyboardInterrupt:
        call.output.status("")  # also removes the key that the terminal echoes
        call.run(call.services.waits.end(task_id, actor))
        show_ending(call, _left(call, task_id), "Interrupted")
        return INTERRUPTED
    show_ending(call, view, f"{view.task.agent} has not finished it yet: it is {view.task.state}")
    return exit_of(view)


def _delegate(call: Call, draft: Draft, actor: Identity, seconds: float) -> TaskView:
    when_unknown = WhenUnknown.REGISTER if call.options.register else WhenUnknown.REFUSE
    policy = SendPolicy(when_unknown=when_unknown, waits=seconds)
    return call.run(call.services.tasks.delegate(draft, actor, policy))


def _left(call: Call, task_id: MessageId) -> TaskView:
    """Return the task after an interrupt. Raise KeyboardInterrupt again if it was not delegated yet."""
    try:
        return call.run(call.services.tasks.view(task_id))
    except TaskUnknown:
        raise KeyboardInterrupt from None


def _draft(call: Call, task_id: MessageId) -> Draft:
    options = call.options
    whole = options.whole or os.environ.get(VARIABLE)
    return Draft(
        kind=Kind.TASK,
        to=(_recipient(options.to),),
        parts=parts_of(call, options.text),
        id=task_id,
        subject=parse_subject(options.subject) if options.subject else None,
        scope=parse_scope(options.scope) if options.scope else None,
        relaying=task_of(call, whole, options.sender).task.id if whole else None,
        callback=_callback(options.callback) if options.callback is not None else None,
        deadline=parse_deadline(options.deadline, call.services.clock.now()) if options.deadline else None,
    )


def _recipient(names: Sequence[str]) -> Address:
    if len(names) > 1 or EVERYONE.value in names:
        raise Invalid("--to", " ".join(names), "a task goes to one agent; delegate one to each")
    return parse_address(names[0])


def _callback(text: str) -> Callback:
    channel, _, conversation = text.partition(":")
    if not channel or not conversation:
        raise Invalid("callback", text, "use CHANNEL:CONVERSATION")
    return Callback(channel, conversation)


def _beginning(call: Call, view: TaskView) -> str:
    """Return the line that a person sees when the wait begins."""
    name = call.run(name_of(call.services, view.task))
    agent = call.run(call.services.directory.agent(view.task.agent))
    where = f"waits for {agent.name}, who is offline" if agent.presence is Presence.OFFLINE else f"is with {agent.name}"
    return f"Task {name} {where}. Ctrl-C leaves it there."


def _show_id(call: Call, view: TaskView) -> int:
    """Write the id for a script, and on stderr the next command for a person."""
    if call.output.as_json:
        show_ending(call, view, "")
    else:
        call.output.text(view.task.id)
        call.output.step(f"`covey task {call.run(name_of(call.services, view.task))}` shows how it fares.")
    return DONE
