"""The verb `inbox`."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.errors import Invalid
from covey.core.ledger.delivery import WAITING, DeliveryState
from covey.core.ledger.message import Kind, Message
from covey.core.names import JOURNAL_TOPIC, AgentName, MessageId, known_scope
from covey.services.mail.inbox import InboxFilter, InboxItem
from covey.services.space import Services
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE, UNAVAILABLE
from covey.surfaces.cli.times import age, parse_span, parse_when, positive
from covey.surfaces.cli.views.documents import delivery_document, message_document


def _inbox_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", metavar="AGENT", help="the agent; by default the acting agent, or all agents if none acts"
    )
    parser.add_argument("--all-agents", action="store_true", help="show the inboxes of all agents")
    parser.add_argument("--scope", help="only messages of this scope")
    parser.add_argument("--kind", choices=[str(kind) for kind in Kind], help="only messages of this kind")
    parser.add_argument(
        "--state", choices=[str(state) for state in sorted(WAITING)], help="only deliveries in this state"
    )
    parser.add_argument(
        "--since", metavar="TIME", help="only messages after a time: 10m, 2h, 3d or an ISO time with a zone"
    )
    parser.add_argument("--until", metavar="TIME", help="only messages before a time, in the same form")
    parser.add_argument(
        "--limit", type=positive, default=100, metavar="N", help="show at most N messages of an agent (default 100)"
    )
    parser.add_argument("--full", action="store_true", help="show whole texts, instead of two lines of each")
    parser.add_argument(
        "--wait",
        nargs="?",
        const="",
        metavar="SECONDS",
        help="wait until there is mail: for that many seconds (30, 90s, 10m), or without a limit",
    )


def _run_inbox(call: Call) -> int:
    options = call.options
    now = call.services.clock.now()
    wanted = InboxFilter(
        scope=known_scope(options.scope) if options.scope else None,
        kind=Kind(options.kind) if options.kind else None,
        since=parse_when(options.since, now) if options.since else None,
        until=parse_when(options.until, now) if options.until else None,
        states={DeliveryState(options.state)} if options.state else WAITING,
    )
    agent = call.agent_or_all(options.name, wants_all=options.all_agents)
    seconds = None if options.wait is None else _seconds(options.wait)
    items = call.run(_peek(call.services, agent, wanted, options.limit))
    is_over = False
    if seconds is not None and not items:
        items = _wait(call, agent, wanted, seconds)
        is_over = not items
    held = call.run(call.services.inbox.held_tasks(items))
    if call.output.as_json:
        call.output.json(
            [
                {
                    **message_document(item.message),
                    **delivery_document(item.delivery),
                    "state": str(item.state),
                    "task_state": held.get(item.message.id),
                }
                for item in items
            ]
        )
    elif is_over:
        call.output.text(f"No mail came for {agent or 'any agent'} in time.")
    else:
        is_narrowed = any((options.scope, options.kind, options.since, options.until, options.state))
        nothing = f"Nothing {'of that ' if is_narrowed else ''}waits for {agent or 'any agent'}."
        _show_items(call, items, held, nothing, with_agents=agent is None)
        counts = Counter(item.delivery.agent for item in items)
        if options.limit in counts.values():
            call.output.note(f"The first {options.limit}{'' if agent else ' of each agent'}; --limit shows more.")
    return UNAVAILABLE if is_over else DONE


async def _peek(services: Services, agent: AgentName | None, wanted: InboxFilter, limit: int) -> Sequence[InboxItem]:
    inbox = services.inbox
    return await (inbox.peek_all(wanted, limit) if agent is None else inbox.peek(agent, wanted, limit))


def _seconds(text: str) -> float:
    """Return the limit of a wait in seconds. Without one, the wait has no limit."""
    if not text:
        return float("inf")
    if text.isascii() and text.isdecimal():
        text += "s"
    try:
        return parse_span(text).total_seconds()
    except Invalid:
        raise Invalid("--wait", text, "use 30, 90s, 10m or 2h; the name of an agent stands before --wait") from None


def _wait(call: Call, agent: AgentName | None, wanted: InboxFilter, seconds: float) -> Sequence[InboxItem]:
    """Return the mail as soon as there is some, or nothing when the time is over."""
    from covey.surfaces.cli.live import WAIT_SECONDS, run_live  # imported late because most calls do not wait

    async def work(services: Services) -> Sequence[InboxItem]:
        clock = services.clock
        ends_at = clock.monotonic() + seconds

        async def look() -> Sequence[InboxItem] | None:
            return await _peek(services, agent, wanted, call.options.limit) or None

        found: Sequence[InboxItem] | None = None
        while found is None and (left := ends_at - clock.monotonic()) > 0:
            found = await services.passive_waiting.until([JOURNAL_TOPIC], look, min(left, WAIT_SECONDS))
        return found or ()

    return run_live(call, work)


INBOX: Final = Verb(
    arguments=_inbox_arguments,
    run=_run_inbox,
    description="""\
List the waiting mail of an agent, with all its sessions. Without an agent, list the mail of all agents. Nothing is
marked as read. `covey reply`, `approve`, `reject`, `handle`, `dismiss`, `archive` and `thread` take the numbers: 1 in
the inbox of the acting agent, coder:1 in any other. A task that was accepted, or that a session has taken, shows the
state of the task.

With --wait, the command ends as soon as there is mail, also if it was there before.

exit codes:
  0    the mail was shown, also if there is none
  4    --wait: no mail came in time""",
    examples="""\
examples:
  covey inbox
  covey inbox coder
  covey inbox coder --wait 10m
  covey inbox coder --scope T-17 --kind request --since 2h
  covey inbox coder --state queued --json""",
)


def _show_items(
    call: Call, items: Sequence[InboxItem], held: Mapping[MessageId, str], nothing: str, *, with_agents: bool
) -> None:
    """Show waiting messages, one line each, or say that there are none. Numbers of several agents have their names."""
    from covey.surfaces.cli.views.messages import about, extras  # imported late because programs need JSON only

    now = call.services.clock.now()
    call.output.table(
        ("#", "age", "from", "kind", "state", "about", "text"),
        [
            (
                f"{item.delivery.agent}:{item.delivery.number}" if with_agents else str(item.delivery.number),
                age(item.message.created_at, now),
                str(item.message.sender),
                _kind(item.message),
                held.get(item.message.id) or str(item.state),
                about(item.message),
                " ".join((item.message.text, *(f"[{extra}]" for extra in extras(item.message)))).strip(),
            )
            for item in items
        ],
        nothing,
        is_full=call.options.full,
    )


def _kind(message: Message) -> str:
    from covey.core.work.approval import requested

    if request := requested(message):
        return f"approval ({request.label})"
    is_idle = message.kind is Kind.REQUEST and not message.expects_reply
    return f"{message.kind} (no reply)" if is_idle else str(message.kind)
