"""The verdict on duties: the journal, the delegator's inbox, the programs and the kernel are compared."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from covey.composition import launcher
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Kind
from covey.core.names import AgentName
from covey.core.work.task import ACTIVE, FINISHED, TaskState
from covey.engines import connect_inline, parse_store_url
from covey.ports.launcher import ProgramEnd
from covey.ports.work import TaskFilter
from covey.services.space import Services
from covey.services.tasks.tasks import TaskView
from tests.chaos.duty import ledger, store
from tests.properties.world import finish

MANY = 10_000_000


class Verdict(NamedTuple):
    tasks: int
    states: Mapping[str, int]
    """The number of tasks in each final state."""
    released: Mapping[str, int]
    """The states of tasks when their session was killed."""
    recalled: int
    """The number of tasks that were finished with the result of an earlier run."""
    most_held: Counter[str]
    faults: Sequence[str]
    hits: Mapping[str, int] = {}
    """The number of kills, by kind of process."""


def judge(folder: Path, quotas: Mapping[AgentName, int]) -> Verdict:
    """Judge a space whose tasks are all finished and whose workers have ended."""
    ports = connect_inline(parse_store_url(store(folder)), ())
    space = Services(ports)
    try:
        views = finish(space.tasks.find(TaskFilter(), MANY))
        events = finish(space.history.read(0, MANY))
        faults = [str(found) for found in finish(space.audit.check())]
        told = {view.task.id: finish(_told(space, view)) for view in views}
        texts = {view.task.id: finish(_result(space, view)) for view in views}
    finally:
        finish(ports.close())
    runs = _runs(folder)
    most = _most_held(events)
    moves = _moves(events)
    for view in views:
        task = view.task
        faults += _about_moves(view, moves.get(task.id, []), told[task.id])
        faults += _about_runs(view, runs.get(task.id, {}), texts[task.id])
    faults += [
        f"{agent} had {most[agent]} tasks, and its quota is {quota}"
        for agent, quota in quotas.items()
        if most[agent] > quota
    ]
    faults += [f"process {line} is left behind" for line in left_behind(folder)]
    return Verdict(
        len(views),
        Counter(str(view.task.state) for view in views),
        Counter(str(event.details["state"]) for event in events if event.action is Action.TASK_RELEASED),
        sum(view.task.attempt > _last_attempt(runs.get(view.task.id, {})) for view in views),
        most,
        faults,
    )


def _moves(events: Sequence[Event]) -> Mapping[str, list[Event]]:
    moves: dict[str, list[Event]] = {}
    for event in events:
        if event.action is Action.TASK_MOVED and event.message_id is not None:
            moves.setdefault(event.message_id, []).append(event)
    return moves


def _about_moves(view: TaskView, moves: Sequence[Event], told: Sequence[str]) -> Iterator[str]:
    """Yield the faults in the moves of a task, and in the updates that its delegator received."""
    task = view.task
    ends = [event for event in moves if event.details["to"] in FINISHED]
    if not task.is_finished:
        yield f"task {task.id} is lost: {task}"
    if len(ends) != 1 or len(moves) != len({event.position for event in moves}):
        yield f"task {task.id} was finished {len(ends)} times"
    updates = [str(event.details["update"]) for event in moves]
    if sorted(updates) != sorted(told):
        yield f"the delegator of {task.id} was told {told}, and the moves are {updates}"


def _about_runs(view: TaskView, runs: Mapping[str, "Run"], text: str) -> Iterator[str]:
    """Yield the faults in the runs of a task, from the lines that they wrote and their recorded ends."""
    task = view.task
    good = [name for name, run in runs.items() if run.ended is not None and run.ended.is_success]
    if task.state is TaskState.COMPLETED and text not in good:
        yield f"task {task.id} is completed by {text}, and the runs that succeeded are {good}"
    if len(good) > 1:
        yield f"task {task.id} was done {len(good)} times: {good}"
    if good and task.state is not TaskState.COMPLETED:
        yield f"task {task.id} is {task.state} ({task.reason}), and its program succeeded in {good}"
    for name, run in runs.items():
        if run.ended is not None and run.ended.is_success and run.said != ["begun", "done"]:
            yield f"run {name} succeeded and said {run.said}"


class Run(NamedTuple):
    said: Sequence[str]
    """The lines that the program wrote."""
    ended: ProgramEnd | None
    """The end of the run, if it is recorded."""


def _runs(folder: Path) -> Mapping[str, Mapping[str, Run]]:
    """Return the runs of each task by their names."""
    said: dict[str, list[str]] = {}
    for line in ledger(folder).read_text().splitlines():
        _, run, word = line.split()
        said.setdefault(run, []).append(word)
    recall = launcher().recall
    found: dict[str, dict[str, Run]] = {}
    for path in folder.glob("work/*/*/*"):
        task, name = path.parent.name, f"{path.parent.name}/{path.name}"
        found.setdefault(task, {})[name] = Run(said.pop(name, []), recall(str(path / "run")))
    assert not said, f"runs without a folder: {said}"
    return found


def _last_attempt(runs: Mapping[str, Run]) -> int:
    return max((int(name.rpartition("/")[2].partition("-")[0]) for name, run in runs.items() if run.said), default=0)


def _most_held(events: Sequence[Event]) -> Counter[str]:
    """Return the largest number of tasks that each agent had at once, after any event of the journal."""
    held: dict[str, set[str]] = {}
    most: Counter[str] = Counter()
    for event in events:
        if event.agent is None or event.message_id is None:
            continue
        has = held.setdefault(event.agent, set())
        is_move = event.action is Action.TASK_MOVED
        if event.action is Action.TASK_CLAIMED or (is_move and event.details["to"] in ACTIVE):
            has.add(event.message_id)
        elif is_move or (event.action is Action.TASK_RELEASED and event.details["state"] == TaskState.PENDING):
            has.discard(event.message_id)
        most[event.agent] = max(most[event.agent], len(has))
    return most


async def _told(space: Services, view: TaskView) -> Sequence[str]:
    """Return the updates about moves of a task that reached its delegator."""
    thread = await space.dialogue.thread(view.task.id)
    moves = await space.tasks.history(view.task.id)
    updates = {str(event.details["update"]) for event in moves if event.action is Action.TASK_MOVED}
    return [
        copy.message_id
        for message in thread
        if message.kind is Kind.UPDATE and message.id in updates
        for copy in (await space.mail.receipt(message.id)).deliveries
        if copy.agent == view.task.delegator
    ]


async def _result(space: Services, view: TaskView) -> str:
    return "" if view.task.result is None else (await space.mail.message(view.task.result)).text


def left_behind(folder: Path) -> Iterator[str]:
    """Yield the processes with the folder in their environment.

    All processes that workers and programs start have it.
    """
    mark = str(folder).encode()
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if mark in (process / "environ").read_bytes():
                    command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    yield f"{process.name}: {command}"
            except OSError:
                continue  # the process is gone, or belongs to another user
