"""Work of the other agents on tasks in a story of a token's holder. Each of their texts has a unique mark."""

from collections.abc import Callable
from random import Random

from covey.core.identity import Identity
from covey.core.ledger.message import TextPart
from covey.core.names import AgentName, MessageId
from covey.core.work.task import Task
from covey.ports.work import TaskFilter
from covey.services.space import Services
from tests.properties.world import finish

Mark = Callable[[MessageId, AgentName | None], str]
"""A function that makes a unique text and records its origin."""


def work(services: Services, who: Identity, random: Random, mark: Mark) -> None:
    """Let an agent take a task, move one of its tasks, or cancel one that it delegated."""
    what = random.choice(("take", "take", "move", "move", "move", "cancel"))
    if what == "take":
        finish(services.duties.take(who))
        return
    wanted = TaskFilter(delegator=who.agent) if what == "cancel" else TaskFilter(agent=who.agent)
    tasks = finish(services.tasks.find(wanted._replace(is_finished=False)))
    if not tasks:
        return
    task = random.choice(tasks).task
    if what == "cancel":
        finish(services.tasks.cancel(task.id, who, mark(task.id, None)))
    else:
        _move(services, who, task, random, mark)


def _move(services: Services, who: Identity, task: Task, random: Random, mark: Mark) -> None:
    duties = services.duties
    said = mark(task.id, None)  # both sides of the task may know its texts
    moves: dict[str, Callable[[], object]] = {
        "accept": lambda: finish(duties.accept(task.id, who, (TextPart(said),))),
        "reject": lambda: finish(duties.reject(task.id, who, said)),
        "start": lambda: finish(duties.start(task.id, who)),
        "progress": lambda: finish(duties.progress(task.id, who, (TextPart(said),))),
        "complete": lambda: finish(duties.complete(task.id, who, (TextPart(said),))),
        "fail": lambda: finish(duties.fail(task.id, who, said)),
    }
    moves[random.choice(list(moves))]()
