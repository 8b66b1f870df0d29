"""The verbs `join` and `leave`: a session of an agent, for a shell to act as."""

import os
import shlex
from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from covey.core.directory.card import Overflow, TaskOverflow
from covey.core.directory.session import SessionKind
from covey.core.errors import Invalid, SessionEnded
from covey.core.json import Json
from covey.core.limits import MAX_LEASE, PRESENCE_LEASE
from covey.core.names import AgentName, SessionId, parse_agent_name, parse_label, parse_session_id
from covey.core.store_url import StoreUrl
from covey.engines import engine_of
from covey.services.directory.directory import Joined, JoinRequest
from covey.services.directory.presence import RemainingMail
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.options.drafts import card_with
from covey.surfaces.cli.times import parse_span

VARIABLES: Final = ("COVEY_SESSION", "COVEY_AGENT", "COVEY_STORE")


def environment(joined: Joined, url: StoreUrl) -> Mapping[str, str]:
    """Return the variables that a shell exports to act as the session.

    The store is one of them: only that store knows the session, whatever folder the shell is in.
    """
    values = (f"{joined.session.id}:{joined.secret}", joined.session.agent, engine_of(url).absolute(url).with_login())
    return dict(zip(VARIABLES, values, strict=True))


def export_line(name: str, value: str, width: int) -> str:
    """Return the line that exports a variable, broken in two if it is wider than the terminal."""
    line = f"export {name}={shlex.quote(value)}"
    cut = line.find(":") + 1
    return line if len(line) <= width or not cut else f"{line[:cut]}\\\n{line[cut:]}"


def unset_line() -> str:
    """Return the line that unsets all variables of a session."""
    return "unset " + " ".join(VARIABLES)


def _join_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", metavar="AGENT", help="whose session; by default who acts, else a new agent: agentA, …"
    )
    parser.add_argument("--export", action="store_true", help="write only what a shell evaluates")
    bound = parser.add_mutually_exclusive_group()
    bound.add_argument("--pid", type=int, help="the process that it lives as long as; by default the calling shell")
    bound.add_argument("--lease", metavar="SPAN", help="no process: it lives until nobody used it for 10m, 2h, 3d")
    parser.add_argument("--label", metavar="LABEL", help="a name for this session, to be found by")
    card = parser.add_argument_group("the agent's card; what is not given stays as it is")
    card.add_argument("--description", metavar="TEXT", help="what the agent is for")
    card.add_argument("--capability", metavar="TEXT", action="append", help="what it can do; may be repeated")
    card.add_argument("--allow-from", metavar="AGENT", action="append", help="who may write to it; *, or several")
    card.add_argument("--delegate", metavar="AGENT", action="append", help="whom it may write to; *, or several")
    card.add_argument("--quota", type=int, metavar="N", help="how many tasks it works on at once")
    card.add_argument("--overflow", choices=list(TaskOverflow), help="what becomes of a task over the quota")
    card.add_argument("--workspace", metavar="PATH", help="the folder it works in")
    card.add_argument("--inbox-limit", type=int, metavar="N", help="how much may wait in the inbox of a session")
    card.add_argument("--inbox-overflow", choices=list(Overflow), help="what gives way when it is full")
    card.add_argument("--command", metavar="COMMAND", help="what starts a child of it: 'claude -p {prompt}'")
    card.add_argument("--max-depth", type=int, metavar="N", help="how deep its sessions may start children")
    card.add_argument(
        "--max-children", type=int, metavar="N", help="how many it may have at once, over all its sessions"
    )
    card.add_argument("--allow-spawn", metavar="AGENT", action="append", help="of which others; *, or several")


def _run_join(call: Call) -> int:
    options = call.options
    given = options.name or options.actor or os.environ.get("COVEY_AGENT")
    name = parse_agent_name(given) if given else _holder(call)
    wish = JoinRequest(
        name=name,
        card=card_with(
            call,
            name,
            description=options.description,
            capabilities=options.capability,
            allow_from=options.allow_from,
            allowed_delegates=options.delegate,
            quota=options.quota,
            overflow=options.overflow,
            workspace=options.workspace,
            capacity=_capacity(options.inbox_limit, options.inbox_overflow),
            command=None if options.command is None else _words(options.command),
            max_depth=options.max_depth,
            max_children=options.max_children,
            allow_spawn=options.allow_spawn,
        ),
        kind=SessionKind.LEASED if options.lease else SessionKind.CLIENT,
        label=parse_label(options.label) if options.label else None,
        client_pid=None if options.lease else _pid(options.pid),
        lease=_lease(options.lease) if options.lease else PRESENCE_LEASE,
    )
    _show_joined(call, call.run(call.services.directory.join(wish)))
    return 0


JOIN: Final = Verb(
    arguments=_join_arguments,
    run=_run_join,
    description="""\
Start a session of an agent, for a shell or another program to act as. It lives as long as that program's process, and
gets the mail that is parked with the agent. What it prints proves the session to whoever knows it; `covey leave` ends
it. Commands that act as the session show that it is in use.""",
    examples="""\
examples:
  eval "$(covey join coder --export)"
  eval "$(covey join coder --export --pid $$)"  # the same, also in a subshell
  covey join critic --description "reads diffs" --capability review --json
  covey join critic --command 'claude -p {prompt}' --max-children 8 --lease 1m""",
)


def _holder(call: Call) -> AgentName | None:
    """Return the agent whose token lets the session join, or None for the operator's token, which fits any agent."""
    return None if call.holder is None or call.holder.is_operator else call.holder.agent


def _capacity(limit: int | None, overflow: str | None) -> dict[str, Json] | None:
    given: dict[str, Json] = {"limit": limit, "overflow": overflow}
    return {name: value for name, value in given.items() if value is not None} or None


def _words(command: str) -> list[Json]:
    """Return a command as words, quoted as in a shell. An empty command has none."""
    try:
        return [*shlex.split(command)]
    except ValueError as error:
        raise Invalid("command", command, f"{str(error).lower()}: quote it as in a shell") from None


def _pid(given: int | None) -> int:
    """Return the process that the session is bound to. In a container, a caller outside of it has the id 0."""
    pid = os.getppid() if given is None else given
    if pid <= 0:
        raise Invalid("process id", pid, "name a running process with --pid, or use --lease")
    return pid


def _lease(text: str) -> timedelta:
    span = parse_span(text)
    if not span or span > MAX_LEASE:
        raise Invalid("lease", text, f"use at least 1s and at most {MAX_LEASE.days}d")
    return span


def _show_joined(call: Call, joined: Joined) -> None:
    """Write the lines for a shell as the result, and notes for a person on stderr."""
    session, output = joined.session, call.output
    variables = environment(joined, call.url)
    if output.as_json:
        output.json({**_document(joined), "environment": variables})
        return
    tell = output.step if call.options.export else output.note
    life = f"process {session.holder.pid}" if session.holder.pid else f"it is used every {session.lease}"
    tell(f"Joined as {session.key}.")
    tell(f"The session lives as long as {life}; waiting for it: {joined.adopted}.")
    if os.environ.get("COVEY_SESSION"):
        tell("This shell had a session already; that one goes on until it is left.")
    for name, value in variables.items():
        output.text(export_line(name, value, output.width))
    if output.is_for_a_person and not call.options.export:
        tell(f'These lines are for your shell; next time: eval "$(covey join {session.agent} --export)"')


def _document(joined: Joined) -> dict[str, Json]:
    session = joined.session
    return {
        "agent": session.agent,
        "session": session.id,
        "key": str(session.key),
        "kind": str(session.kind),
        "pid": session.holder.pid,
        "label": session.label,
        "secret": joined.secret,
        "adopted": joined.adopted,
    }


def _leave_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="SESSION", help="its id; by default the one in COVEY_SESSION")
    parser.add_argument("--export", action="store_true", help="write only what a shell evaluates")


def _run_leave(call: Call) -> int:
    options = call.options
    directory = call.services.directory
    given = parse_session_id(options.id) if options.id else None
    if given is None and not os.environ.get("COVEY_SESSION"):
        raise Invalid("session", None, "name its id, or leave from where COVEY_SESSION is set")
    try:
        actor = call.actor()
        session_id = given or actor.session
        if session_id is None:
            raise Invalid("session", None, f"COVEY_SESSION is not one of {actor.agent}'s: name its id")
        left = call.run(directory.leave(actor, session_id=given))
    except SessionEnded as ended:
        if given is not None:
            raise
        session_id, left = SessionId(str(ended.details["session_id"])), None
    session = call.run(directory.session(session_id))
    _show_left(call, session_id, f"{session.agent} left {session.key}", left)
    return 0


LEAVE: Final = Verb(
    arguments=_leave_arguments,
    run=_run_leave,
    description="""\
End a session: the one that COVEY_SESSION proves, or another one of the same agent by its id. What it leaves unhandled
waits for the agent's next session, unless another live one has it. One that has ended already is left alone.""",
    examples="""\
examples:
  eval "$(covey leave --export)"
  covey leave 3f2c9a4e-5d0b-4c1e-9a53-0f6b7c8d9e10 --as coder""",
)


def _show_left(call: Call, session_id: SessionId, lead: str, left: RemainingMail | None) -> None:
    output = call.output
    if output.as_json:
        found = left or RemainingMail()
        output.json(
            {
                "session": session_id,
                "ended": left is not None,
                "parked": found.parked,
                "passed_on": found.passed_on,
            }
        )
        return
    tell = output.step if call.options.export else output.text
    tell(f"{lead} earlier: nothing to do." if left is None else f"{lead}. {_said(left)}")
    if call.options.export:
        output.text(unset_line())
    else:
        output.note(f"In a shell that was this session: {unset_line()}")


def _said(left: RemainingMail) -> str:
    """Return a sentence on the mail that the session had not handled."""
    said = [f"{left.parked} unhandled parked for its next session" if left.parked else ""]
    said += [f"{left.passed_on} passed on to another session of it" if left.passed_on else ""]
    return (", ".join(filter(None, said)) or "Nothing was parked") + "."
