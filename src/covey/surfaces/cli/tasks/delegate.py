"""The verb `delegate`."""

import os
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Final

from covey.core.directory.card import Presence
from covey.core.errors import Invalid, TaskUnknown
from covey.core.identity import EVERYONE, Address, Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Callback, Kind
from covey.core.names import MessageId, parse_new_message_id, parse_scope, parse_subject
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.services.tasks.tasks import TaskView
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE, INTERRUPTED
from covey.surfaces.cli.options.drafts import add_addressed_text, addressed
from covey.surfaces.cli.options.names import add_actor
from covey.surfaces.cli.tasks.options import TASK_VARIABLE, part_arguments, parts_of, task_name, task_of
from covey.surfaces.cli.tasks.outcome import EXIT_HELP, show_outcome, task_exit
from covey.surfaces.cli.times import parse_deadline, parse_span

USUAL_WAIT = "1h"


def _delegate_arguments(parser: ArgumentParser) -> None:
    add_addressed_text(parser, "the agent that does the task", "the task")
    add_actor(parser, "the agent that delegates it")
    part_arguments(parser)
    parser.add_argument(
        "--deadline", metavar="WHEN", help="fail the task after 10m, 2h, 3d, or at an ISO time with a zone"
    )
    parser.add_argument(
        "--for", dest="whole", metavar="TASK", help=f"the task that this one is a part of (default ${TASK_VARIABLE})"
    )
    parser.add_argument("--callback", metavar="CHANNEL:CONVERSATION", help="the conversation that is told the outcome")
    parser.add_argument("--subject", help="a topic in kebab-case")
    parser.add_argument("--scope", help="the scope that the task belongs to")
    parser.add_argument("--id", metavar="ID", help="the id of the task; a repeated id delegates nothing twice")
    parser.add_argument("--register", action="store_true", help="register an unknown agent; the task waits for it")
    waiting = parser.add_mutually_exclusive_group()
    waiting.add_argument("--wait", metavar="SPAN", default=USUAL_WAIT, help=f"how long to wait (default {USUAL_WAIT})")
    waiting.add_argument("--no-wait", action="store_true", help="write the id and do not wait")


def _run_delegate(call: Call) -> int:
    seconds = parse_span(call.options.wait).total_seconds()
    to, text = addressed(call.options)
    recipient = _recipient(to)  # checked before the space is opened, which may create it
    # The id is made here, so that an interrupted caller knows the task at any stage.
    given, now = call.options.id, call.services.clock.now()
    task_id = parse_new_message_id(given) if given else call.ports.ids.message_id(now)
    draft = _draft(call, task_id, recipient, text)
    actor = call.actor(call.options.sender)
    try:
        view = _delegate(call, draft, actor, 0.0 if call.options.no_wait else seconds)
        if not view.task.is_finished and call.options.no_wait:
            return _show_id(call, view)
        if not view.task.is_finished and seconds > 0:
            from covey.surfaces.cli.live import run_live
            from covey.surfaces.cli.tasks.outcome import await_task

            call.output.step(_beginning(call, view))
            view = run_live(call, lambda services: await_task(services, call.output, task_id, actor, seconds))
    except KeyboardInterrupt:
        call.output.status("")  # also removes the key that the terminal echoes
        call.run(call.services.waits.end(task_id, actor))
        show_outcome(call, _left(call, task_id), "Interrupted")
        return INTERRUPTED
    show_outcome(call, view, f"{view.task.agent} has not finished it yet: it is {view.task.state}")
    return task_exit(view)


DELEGATE: Final = Verb(
    arguments=_delegate_arguments,
    run=_run_delegate,
    description=f"""\
Delegate a task to an agent. The command waits until the task ends, shows its progress, and writes the result to
stdout. With --no-wait it writes the task's id and ends. The task is durable in both cases. In a program that
`covey work` runs, the new task is a part of the program's own task, and inherits its hops, trace and callback.

{EXIT_HELP}""",
    examples="""\
examples:
  covey delegate coder "Fix the parser." --as lead --file parser.py
  task=$(covey delegate coder "Fix it." --as lead --no-wait)
  git diff | covey delegate critic - --as lead --deadline 2h --wait 10m""",
)


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


def _draft(call: Call, task_id: MessageId, recipient: Address, text: str | None) -> Draft:
    options = call.options
    whole = options.whole or os.environ.get(TASK_VARIABLE)
    return Draft(
        kind=Kind.TASK,
        to=(recipient,),
        parts=parts_of(call, text),
        id=task_id,
        subject=parse_subject(options.subject) if options.subject else None,
        scope=parse_scope(options.scope) if options.scope else None,
        relaying=task_of(call, whole, options.sender).task.id if whole else None,
        callback=_callback(options.callback) if options.callback is not None else None,
        deadline=parse_deadline(options.deadline, call.services.clock.now()) if options.deadline else None,
    )


def _recipient(names: Sequence[str]) -> Address:
    if not names:
        raise Invalid("recipient", None, "name one: `covey delegate AGENT TEXT`; `covey agents` lists them")
    if len(names) > 1 or EVERYONE.value in names:
        raise Invalid("recipient", ",".join(names), "a task goes to one agent; delegate one to each")
    return parse_address(names[0])


def _callback(text: str) -> Callback:
    channel, _, conversation = text.partition(":")
    if not channel or not conversation:
        raise Invalid("callback", text, "use CHANNEL:CONVERSATION")
    return Callback(channel, conversation)


def _beginning(call: Call, view: TaskView) -> str:
    """Return the line that a person sees when the wait begins."""
    name = call.run(task_name(call.services, view.task))
    agent = call.run(call.services.directory.agent(view.task.agent))
    where = f"waits for {agent.name}, who is offline" if agent.presence is Presence.OFFLINE else f"is with {agent.name}"
    return f"Task {name} {where}. Ctrl-C leaves it there."


def _show_id(call: Call, view: TaskView) -> int:
    """Write the id for a script, and on stderr the next command for a person."""
    if call.output.as_json:
        show_outcome(call, view, "")
    else:
        call.output.text(view.task.id)
        call.output.step(f"`covey task {call.run(task_name(call.services, view.task))}` shows how it fares.")
    return DONE
