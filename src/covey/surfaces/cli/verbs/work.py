"""covey work."""

import asyncio
from argparse import ArgumentParser
from datetime import timedelta
from pathlib import Path

from covey.core.errors import Invalid
from covey.core.limits import TASK_ATTEMPTS
from covey.core.names import parse_agent_name
from covey.core.store_url import WORK_FOLDER, StoreUrl
from covey.engines import engine_of, home_of
from covey.runtime.duty import Duty, keep_on_duty
from covey.runtime.programs.command import check_program, parse_command
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE, INTERRUPTED
from covey.surfaces.cli.options.drafts import card_with
from covey.surfaces.cli.options.when import parse_span, positive
from covey.surfaces.cli.terminal.ticking import ticking
from covey.surfaces.cli.views.duty import Shown

DESCRIPTION = """\
Keep an agent on duty: take its tasks as they come, run a program for each, and hand in what it prints. No shell is
involved; {prompt}, {task}, {folder} and {agent} in the command are replaced. Without {prompt} the program reads it on
stdin. Files that came with a task are in $COVEY_FOLDER/attachments, and what the program leaves in
$COVEY_FOLDER/output goes with the result. A line that begins with "::progress " tells how far it is.

Ctrl-C or SIGTERM: no new tasks are taken, and what runs goes on to its end; a second one stops it. The exit code is 0
where all that was begun is finished, and 130 where tasks are left for the next session."""
EXAMPLES = """\
examples:
  covey work coder --run 'claude -p {prompt} --output-format json'
  covey work tester --run ./run-tests.sh --concurrency 4 --time-limit 30m
  covey work coder --run 'codex exec {prompt}' --once --json"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="AGENT", help="whose tasks; it is made where it is new")
    parser.add_argument(
        "--run", required=True, metavar="COMMAND", help="what is run for each task, quoted as in a shell"
    )
    parser.add_argument(
        "--concurrency", type=positive, default=1, metavar="N", help="how many tasks at once (default 1)"
    )
    parser.add_argument("--once", action="store_true", help="end when there is nothing to do")
    parser.add_argument("--bare-prompt", action="store_true", help="the prompt is the task's text and nothing else")
    limits = parser.add_argument_group("limits")
    limits.add_argument("--time-limit", metavar="SPAN", help="stop a program, and fail its task, after 90s, 30m, 2h")
    limits.add_argument("--grace", metavar="SPAN", default="5s", help="how long a program has to end when told to (5s)")
    limits.add_argument(
        "--attempts",
        type=positive,
        default=TASK_ATTEMPTS,
        metavar="N",
        help=f"how many sessions may take up a task before it has failed (default {TASK_ATTEMPTS})",
    )
    limits.add_argument("--drain", metavar="SPAN", default="10m", help="how long what runs may take at the end (10m)")
    limits.add_argument("--folder", metavar="PATH", help="where tasks have their folders; by default with the space")
    limits.add_argument(
        "--keep", type=positive, default=100, metavar="N", help="how many folders of tasks are kept (default 100)"
    )
    card = parser.add_argument_group("the agent's card; what is not given stays as it is")
    card.add_argument("--quota", type=positive, metavar="N", help="how many tasks all its sessions do at once")
    card.add_argument("--description", metavar="TEXT", help="what the agent is for")
    card.add_argument("--capability", metavar="TEXT", action="append", help="what it can do; may be repeated")


def run(call: Call) -> int:
    options, url = call.options, engine_of(call.url).absolute(call.url)
    agent = parse_agent_name(options.name)
    command = parse_command(options.run)
    check_program(command, Path.cwd())
    duty = Duty(
        agent=agent,
        command=command,
        folder=_folder(options.folder, url) / agent,
        concurrency=options.concurrency,
        attempts=options.attempts,
        keep=options.keep,
        is_bare=options.bare_prompt,
        until_idle=options.once,
        time_limit=_limit(options.time_limit),
        grace=parse_span(options.grace),
        drain=parse_span(options.drain),
        card=card_with(
            call, agent, quota=options.quota, description=options.description, capabilities=options.capability
        ),
    )
    call.tell_of_new_space(comes_now=True)
    return DONE if asyncio.run(_work(url, duty, Shown(call.output, duty.concurrency))) else INTERRUPTED


async def _work(url: StoreUrl, duty: Duty, shown: Shown) -> bool:
    async with ticking(shown.draw, shown.is_live):
        return await keep_on_duty(url, duty, shown)


def _folder(given: str | None, url: StoreUrl) -> Path:
    """Return the folder of tasks: the given one, or one beside the store."""
    if not engine_of(url).capabilities.is_shared:
        raise Invalid("store", str(url), "nobody else could hand it a task; use sqlite:PATH")
    if given:
        return Path(given).expanduser().absolute()
    home = home_of(url)
    if home is None:
        raise Invalid("folder", None, f"{url} has no folder on this machine; name one: --folder PATH")
    return Path(home) / WORK_FOLDER


def _limit(text: str | None) -> timedelta | None:
    if text is None:
        return None
    if not (span := parse_span(text)):
        raise Invalid("time limit", text, "use at least 1s")
    return span
