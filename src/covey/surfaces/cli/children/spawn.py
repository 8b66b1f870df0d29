"""The verb `spawn`."""

from argparse import SUPPRESS, ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Final

from covey.core.errors import CoveyError, Invalid, RecipientUnknown, WaitCircle
from covey.core.identity import Identity
from covey.core.ledger.message import Callback
from covey.core.names import AgentName, parse_agent_name, parse_label
from covey.core.work.run import Run, RunMode
from covey.core.work.spawning import check_mode, check_time_limit
from covey.engines import engine_of
from covey.services.children.request import SpawnRequest
from covey.services.children.spawning import RunResult
from covey.services.space import Services
from covey.surfaces.cli.advice import advise
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.children.runs import EXIT_HELP, child_name, run_document, run_exit, show_next_commands, show_run
from covey.surfaces.cli.children.supervision import (
    AttendedRun,
    BackgroundFailed,
    attend,
    report_failure,
    reporter,
    start_in_background,
)
from covey.surfaces.cli.exits import DONE, INTERRUPTED
from covey.surfaces.cli.live import run_live
from covey.surfaces.cli.options.drafts import read_text
from covey.surfaces.cli.options.names import add_actor
from covey.surfaces.cli.times import parse_span

USUAL_MODE: Final = RunMode.RUN


def _spawn_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("child", metavar="AGENT", nargs="?", help="whose session it is; by default who wants it")
    parser.add_argument("task", metavar="TASK", nargs="?", help="what it is to do; - reads stdin")
    add_actor(parser, "the agent that gets the result")
    parser.add_argument("--run", metavar="COMMAND", help="its program, quoted as in a shell, instead of its card's")
    parser.add_argument("--label", metavar="LABEL", help="a name for it, for `covey say` and `covey stop`")
    parser.add_argument("--file", metavar="PATH", action="append", default=[], help="give it a snapshot of a file")
    parser.add_argument("--time-limit", metavar="SPAN", help="end it, with all that it started, after 90s, 30m, 2h")
    parser.add_argument(
        "--mode",
        choices=list(RunMode),
        default=USUAL_MODE,
        help="run: one task (default); session: it stays for more, and needs --thread",
    )
    parser.add_argument("--thread", metavar="CHANNEL:CONVERSATION", help="where people read along and speak to it")
    waiting = parser.add_mutually_exclusive_group()
    waiting.add_argument("--wait", metavar="SPAN", help="in the background, and wait so long for its result")
    waiting.add_argument("--detach", "--no-wait", action="store_true", help="in the background; write its run id")
    parser.add_argument("--supervise", type=int, help=SUPPRESS)


def _run_spawn(call: Call) -> int:
    options = call.options
    if not engine_of(call.url).capabilities.is_shared:
        raise Invalid("store", str(call.url), "a child could not reach it; use sqlite:PATH")
    if options.supervise is not None:
        return _supervise(call, options.supervise)
    seconds = parse_span(options.wait).total_seconds() if options.wait else 0.0
    wish, actor = _wish(call), call.actor(options.sender)
    if options.detach or options.wait:
        return _in_background(call, wish, actor, seconds)
    stayed = _attend(
        call, wish, actor, lambda run: call.output.step(f"The child {child_name(run)} runs. Ctrl-C stops it.")
    )
    show_run(call, stayed.run, stayed.result)
    return INTERRUPTED if stayed.is_interrupted else run_exit(stayed.run, stayed.result)


SPAWN: Final = Verb(
    arguments=_spawn_arguments,
    run=_run_spawn,
    description=f"""\
Start a child: a session of an agent that does one task, by the command on the agent's card or the one given with
--run. The command stays, watches over it, shows what it says of its progress (lines that begin with "::progress ") and
writes its result to stdout. With --detach a process in the background watches over it; the result then comes to the
inbox of who wanted it. With --wait it does so too, and is waited for.

In the command {{prompt}}, {{task}}, {{folder}}, {{label}}, {{agent}} and {{run}} are replaced; without {{prompt}} and
{{task}} the program reads its prompt on stdin. Ctrl-C stops the child, a second one kills it.

{EXIT_HELP}""",
    examples="""\
examples:
  covey spawn coder "Fix the parser." --as lead --time-limit 30m
  covey spawn "Look for dead links." --as lead --run 'claude -p {prompt}'
  git diff | covey spawn critic - --as lead --file parser.py --label reader
  covey spawn coder "Help them." --as lead --mode session \\
    --thread console:42 --label helper --detach""",
)


def _supervise(call: Call, descriptor: int) -> int:
    """Run as the process in the"""
    tell = reporter(descriptor)
    is_told = False

    def started(run: Run) -> None:
        nonlocal is_told
        is_told = True
        tell(run.id)

    try:
        _attend(call, _wish(call), call.actor(call.options.sender), started, takes_result=False)
    except CoveyError as error:
        return DONE if is_told else report_failure(descriptor, error, call.output.as_json)
    return DONE


def _attend(
    call: Call, wish: SpawnRequest, actor: Identity, started: Callable[[Run], None], *, takes_result: bool = True
) -> AttendedRun:
    """Stay with the child. If no command is known that starts it, explain how to set one."""
    try:
        return attend(call, wish, actor, started, takes_result=takes_result)
    except RecipientUnknown as error:
        advise(error, "`covey agents` lists who is known; with --run COMMAND a new one is made.")
        raise
    except Invalid as error:
        if error.details.get("what") != "command" or wish.command:
            raise
        child = wish.agent or actor.agent
        ways = f"give one with --run, or put one there: covey join {child} --command COMMAND"
        raise Invalid("command", None, f"the card of {child} has none that starts it; {ways}") from None


def _in_background(call: Call, wish: SpawnRequest, actor: Identity, seconds: float) -> int:
    try:
        run_id = start_in_background(call, _words(call, wish), wish.task)
    except BackgroundFailed as failed:
        return failed.code
    run = call.run(call.services.spawning.run(run_id))
    if not seconds:
        return _show_id(call, run)

    async def wait(services: Services) -> RunResult | None:
        call.output.step(f"The child {child_name(run)} runs. Ctrl-C leaves it there.")
        return await services.spawning.result(run.id, actor, seconds)

    try:
        result = run_live(call, wait)
    except KeyboardInterrupt:
        call.output.step("")
        call.run(call.services.waits.end(run.ticket, actor))
        show_run(call, run, None)
        return INTERRUPTED
    except WaitCircle:
        show_next_commands(call, run, "It waits for you")
        raise
    now = call.run(call.services.spawning.run(run.id))
    show_run(call, now, result)
    return run_exit(now, result)


def _show_id(call: Call, run: Run) -> int:
    """Write the id for a script, and on stderr the next commands for a person."""
    if call.output.as_json:
        call.output.json(run_document(run))
        return DONE
    call.output.text(run.id)
    call.output.note(f"It is {run.key}.")
    if call.output.is_for_a_person:
        show_next_commands(call, run, f"The result comes to {run.parent_agent}")
    return DONE


def _wish(call: Call) -> SpawnRequest:
    options = call.options
    child, given = (options.child, options.task) if options.task is not None else (None, options.child)
    mode, thread = RunMode(options.mode), _thread(options.thread)
    limit = parse_span(options.time_limit).total_seconds() if options.time_limit else None
    check_mode(mode, thread)
    check_time_limit(limit)
    agent = parse_agent_name(child) if child is not None else None
    command = _command(options.run)
    if agent is None and given is not None:
        _check_task(call, given)
    return SpawnRequest(
        task=_task(call, given),
        agent=agent,
        mode=mode,
        thread=thread,
        time_limit=limit,
        attachments=tuple(options.file),
        label=parse_label(options.label) if options.label else None,
        cwd=str(Path.cwd()),
        command=command,
    )


def _task(call: Call, given: str | None) -> str:
    text = read_text(given, call.output).rstrip("\n")
    if not text.strip():
        raise Invalid("task", None, "say what the child is to do, as an argument or on stdin")
    return text


def _check_task(call: Call, word: str) -> None:
    """Raise Invalid if the only word is the name of an agent: the task is then missing."""
    if word in call.run(call.services.directory.names()):
        raise Invalid("task", None, f"say what the child of {AgentName(word)} is to do: covey spawn {word} TASK")


def _thread(text: str | None) -> bool | Callback:
    if text is None:
        return False
    channel, _, conversation = text.partition(":")
    if not channel or not conversation:
        raise Invalid("thread", text, "use CHANNEL:CONVERSATION")
    return Callback(channel, conversation)


def _command(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    from covey.runtime.programs.command import check_program, parse_command

    command = parse_command(text)
    check_program(command, Path.cwd())
    program = command.words[0]
    # The child may start in another folder.
    return (str(Path(program).absolute()) if "/" in program else program, *command.words[1:])


def _words(call: Call, wish: SpawnRequest) -> list[str]:
    """Return the command line for the background: the same call, with the task on stdin."""
    options = call.options
    given = (
        ("--as", options.sender or options.actor),
        ("--run", options.run),
        ("--label", wish.label),
        ("--time-limit", options.time_limit),
        ("--mode", options.mode),
        ("--thread", options.thread),
        *(("--file", path) for path in options.file),
    )
    said = [f"{name}={value}" for name, value in given if value]
    positional = ["-"] if wish.agent is None else [wish.agent, "-"]
    return ["spawn", *said, *(["--json"] if call.output.as_json else []), *positional]
