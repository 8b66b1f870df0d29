"""The end of a child, for a command that waited for it: the result on stdout, and an exit code for each end."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.work.run import Run, RunMode, RunState
from covey.services.children.spawning import RunResult
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, FAILED, LOST, STOPPED, TIMED_OUT, UNAVAILABLE
from covey.surfaces.cli.sessions.document import result_document
from covey.surfaces.cli.sessions.naming import short
from covey.surfaces.cli.tasks.ending import again
from covey.surfaces.cli.terminal.letters import clipped, one_line
from covey.surfaces.cli.views.headline import extras

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


def exit_of(run: Run, result: RunResult | None) -> int:
    """Return the exit code for the end of a child.

    A child in mode session runs until it is stopped, so being stopped is its success.
    """
    state = run.state if result is None or run.mode is RunMode.SESSION else result.status
    if run.mode is RunMode.SESSION and state is RunState.STOPPED:
        return DONE
    return EXITS.get(state, UNAVAILABLE)


def show_ending(call: Call, run: Run, result: RunResult | None) -> None:
    """Write the result of a child. If it did not complete, say how it ended."""
    output = call.output
    if output.as_json:
        output.json(result_document(run, result))
        return
    if result is not None and run.mode is RunMode.RUN:
        show_answer(call, result)
    state = run.state if result is None or run.mode is RunMode.SESSION else result.status
    if not run.has_ended and result is None:
        show_way(call, run, "It has not ended yet")
    elif state is not RunState.COMPLETED:
        output.note(f"The child {name_of(run)} {_ENDS.get(state, str(state))}{_because(run)}.")


def show_answer(call: Call, result: RunResult) -> None:
    """Write a child's text to stdout, and list its attachments on stderr."""
    if result.text:
        call.output.text(result.text.rstrip("\n"))
    for line in extras(result.message) if result.message is not None else ():
        call.output.note(f"With it came: {line}")
    call.output.flush()


def show_way(call: Call, run: Run, lead: str) -> None:
    """Show the commands to look at a running child, to speak to it, and to stop it."""
    call.output.note(f"{lead}. It goes on; look, say something or stop it with:")
    for words in _ways(run):
        call.output.note("  " + shlex.join(again(call, words)))


def name_of(run: Run) -> str:
    """Return the name of a child, for people."""
    return f"{run.label} ({run.agent})" if run.label else f"{run.agent} {short(run)}"


def _ways(run: Run) -> Sequence[Sequence[str]]:
    name = run.label or short(run)
    who = ("--from", run.parent_agent)
    return (("sessions", "--watch"), ("say", name, "How far are you?", *who, "--wait", "5m"), ("stop", name))


def _because(run: Run) -> str:
    return f": {clipped(one_line(run.reason).rstrip('.'), LONGEST)}" if run.reason else ""


_ENDS: Final[Mapping[RunState, str]] = {
    RunState.FAILED: "has failed",
    RunState.TIMED_OUT: "took too long",
    RunState.STOPPED: "was stopped",
    RunState.LOST: "is lost",
}
