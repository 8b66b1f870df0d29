"""Runs of children: how a command names them, their JSON documents, and their outcome with its exit code."""

import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from covey.core.directory.session import Session
from covey.core.errors import Invalid, LabelAmbiguous, NotFound, RunUnknown, SessionEnded, SessionUnknown
from covey.core.identity import parse_session_key
from covey.core.json import Json
from covey.core.ledger.wire import encode_part
from covey.core.names import is_uuid_like, parse_label, parse_session_id
from covey.core.times import format_instant
from covey.core.work.run import Run, RunMode, RunState
from covey.ports.work import RunFilter
from covey.services.children.spawning import RunResult
from covey.services.space import Services
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, FAILED, LOST, STOPPED, TIMED_OUT, UNAVAILABLE
from covey.surfaces.cli.terminal.text import clipped, one_line
from covey.surfaces.cli.views.documents import message_document
from covey.surfaces.cli.views.messages import extras

SHORT: Final = 8
"""Number of characters of a run id that are shown. A shorter unique beginning also names the run."""
SESSION_HELP: Final = "a run id or its beginning, a session key, or a label"

_MANY: Final = 1_000
_BEGINNING: Final = r"[0-9a-f-]{4,36}"


def short_id(run: Run) -> str:
    """Return the beginning of a run's id, for people to type."""
    return run.id[:SHORT]


async def run_of(services: Services, text: str) -> Run:
    """Return the named run. A running one comes before one that has ended.

    Raise RunUnknown if there is none, LabelAmbiguous if there are several, and Invalid if the session is not a child.
    """
    named = await _runs(services, text)
    if named:
        return named[-1]
    try:
        session = await _live(services, text)
    except (NotFound, Invalid):
        raise RunUnknown(text) from None
    view = await services.runs.of_session(session.id)
    if view is None and not session.key.is_main:  # the session is a child that the caller may not see
        raise RunUnknown(text)
    if view is None:
        raise Invalid("session", text, "it is nobody's child, and only children are stopped; `covey leave` ends it")
    return view.run


async def session_of(services: Services, text: str) -> Session:
    """Return the named live session. Raise SessionEnded for a child that has ended, SessionUnknown for none."""
    named = await _runs(services, text)
    if not named:
        return await _live(services, text)
    run = named[-1]
    if run.has_ended:
        raise SessionEnded(run.session, run.reason or str(run.state))
    return await services.directory.session(run.session)


async def _runs(services: Services, text: str) -> Sequence[Run]:
    """Return the runs with a name: the running one, or those that have ended."""
    views = await services.runs.find(RunFilter(), _MANY)
    is_beginning = re.fullmatch(_BEGINNING, text) is not None
    named = [
        run
        for run in (view.run for view in views)
        if text in (run.id, run.session, str(run.key), run.label) or (is_beginning and run.id.startswith(text))
    ]
    alive = [run for run in named if not run.has_ended]
    if len(alive) > 1:
        raise LabelAmbiguous(text, [str(run.key) for run in alive])
    return alive or named


async def _live(services: Services, text: str) -> Session:
    directory = services.directory
    if text.startswith("agent:"):
        return await directory.keyed(parse_session_key(text))
    if is_uuid_like(text):
        session = await directory.session(parse_session_id(text))
        if session.has_ended:
            raise SessionEnded(session.id, session.end_reason or "it left")
        return session
    try:
        return await directory.labelled(parse_label(text))
    except Invalid:
        raise SessionUnknown(text) from None


def run_document(run: Run) -> dict[str, Json]:
    """Return a run: its owner, its state and its address."""
    return {
        "run": run.id,
        "key": str(run.key),
        "session": run.session,
        "agent": run.agent,
        "label": run.label,
        "parent_agent": run.parent_agent,
        "parent": run.parent,
        "sibling_of": run.sibling_of,
        "description": run.description,
        "mode": str(run.mode),
        "launcher": str(run.launcher),
        "state": str(run.state),
        "stage": str(run.stage),
        "stop_reason": run.stop_reason,
        "reason": run.reason,
        "request": run.request,
        "ticket": run.ticket,
        "time_limit": run.time_limit,
        "thread": {"channel": run.thread.channel, "session_id": run.thread.session_id} if run.thread else None,
        "started_at": format_instant(run.started_at),
        "ended_at": _instant(run.ended_at),
    }


def result_document(run: Run, result: RunResult | None) -> dict[str, Json]:
    """Return the result of a run. `status` is the run's state if there is no result yet."""
    return {
        "status": str(run.state if result is None else result.status),
        "text": None if result is None else result.text,
        "data": None if result is None else result.data,
        "files": [] if result is None else [encode_part(part) for part in result.files],
        "answer": None if result is None or result.message is None else message_document(result.message),
        "run": run_document(run),
    }


def session_document(session: Session, about: str) -> dict[str, Json]:
    """Return a live session, with its work."""
    return {
        "key": str(session.key),
        "session": session.id,
        "agent": session.agent,
        "label": session.label,
        "kind": str(session.kind),
        "activity": str(session.activity),
        "status": session.status,
        "capacity": {"limit": session.capacity.limit, "overflow": str(session.capacity.overflow)},
        "lease": session.lease.total_seconds(),
        "joined_at": format_instant(session.joined_at),
        "seen_at": format_instant(session.seen_at),
        "hooked_at": _instant(session.hooked_at),
        "about": about,
    }


def _instant(at: datetime | None) -> str | None:
    return None if at is None else format_instant(at)


EXITS: Final[Mapping[RunState, int]] = {
    RunState.COMPLETED: DONE,
    RunState.FAILED: FAILED,
    RunState.TIMED_OUT: TIMED_OUT,
    RunState.STOPPED: STOPPED,
    RunState.LOST: LOST,
}

LONGEST: Final = 200
"""Maximum length of a shown reason; the answer has the whole."""

EXIT_HELP: Final = f"""\
exit codes:
  0    completed; in mode session also: stopped
  4    with --wait: it has not ended yet, and goes on
  {FAILED}    failed
  {TIMED_OUT}    its time limit passed
  {STOPPED}    somebody stopped it
  {LOST}    lost: what watched over it was killed
  130  Ctrl-C: it was stopped; with --wait it goes on"""


def run_exit(run: Run, result: RunResult | None) -> int:
    """Return the exit code for the end of a child.

    A child in mode session runs until it is stopped, so being stopped is its success.
    """
    state = run.state if result is None or run.mode is RunMode.SESSION else result.status
    if run.mode is RunMode.SESSION and state is RunState.STOPPED:
        return DONE
    return EXITS.get(state, UNAVAILABLE)


def show_run(call: Call, run: Run, result: RunResult | None) -> None:
    """Write the result of a child. If it did not complete, say how it ended."""
    output = call.output
    if output.as_json:
        output.json(result_document(run, result))
        return
    if result is not None and run.mode is RunMode.RUN:
        show_answer(call, result)
    state = run.state if result is None or run.mode is RunMode.SESSION else result.status
    if not run.has_ended and result is None:
        show_next_commands(call, run, "It has not ended yet")
    elif state is not RunState.COMPLETED:
        output.note(f"The child {child_name(run)} {_ENDS.get(state, str(state))}{_because(run)}.")


def show_answer(call: Call, result: RunResult) -> None:
    """Write a child's text to stdout, and list its attachments on stderr."""
    if result.text:
        call.output.text(result.text.rstrip("\n"))
    for line in extras(result.message) if result.message is not None else ():
        call.output.note(f"With it came: {line}")
    call.output.flush()


def show_next_commands(call: Call, run: Run, lead: str) -> None:
    """Show the commands to look at a running child, to speak to it, and to stop it."""
    call.output.note(f"{lead}. It goes on; look, say something or stop it with:")
    for words in _next_commands(run):
        call.output.note("  " + shlex.join(call.command(words)))


def child_name(run: Run) -> str:
    """Return the name of a child, for people."""
    return f"{run.label} ({run.agent})" if run.label else f"{run.agent} {short_id(run)}"


def _next_commands(run: Run) -> Sequence[Sequence[str]]:
    name = run.label or short_id(run)
    who = ("--as", run.parent_agent)
    return (("sessions", "--watch"), ("say", name, "How far are you?", *who, "--wait", "5m"), ("stop", name))


def _because(run: Run) -> str:
    return f": {clipped(one_line(run.reason).rstrip('.'), LONGEST)}" if run.reason else ""


_ENDS: Final[Mapping[RunState, str]] = {
    RunState.FAILED: "has failed",
    RunState.TIMED_OUT: "took too long",
    RunState.STOPPED: "was stopped",
    RunState.LOST: "is lost",
}
