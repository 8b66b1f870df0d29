"""What others do about tasks in a story of a token's holder: each word of theirs has a mark that is theirs alone."""

from collections.abc import Callable
from random import Random

from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.ledger.message import TextPart
from covey.core.names import AgentName
from covey.core.work.task import Task
from covey.ports.work import TaskFilter
from covey.services.space import Services
from tests.properties.world import finish

Mark = Callable[[MessageId, AgentName | None], str]
"""Makes a text that stands nowhere else, and remembers what it is of."""


def work(services: Services, who: Identity, random: Random, mark: Mark) -> None:
    """Let somebody take a task, say how one fares that it has, or take back what it handed over."""
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
    said = mark(task.id, None)  # whoever sees the task may know what was said of it
    moves: dict[str, Callable[[], object]] = {
        "accept": lambda: finish(duties.accept(task.id, who, (TextPart(said),))),
        "reject": lambda: finish(duties.reject(task.id, who, said)),
        "start": lambda: finish(duties.start(task.id, who)),
        "progress": lambda: finish(duties.progress(task.id, who, (TextPart(said),))),
        "complete": lambda: finish(duties.complete(task.id, who, (TextPart(said),))),
        "fail": lambda: finish(duties.fail(task.id, who, said)),
    }
    moves[random.choice(list(moves))]()
