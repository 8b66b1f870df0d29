"""Consistency of tasks and posts: rules that their records must satisfy, whatever the journal says."""

from collections.abc import Iterator, Sequence

from covey.core.delivery import WAITING, Delivery
from covey.core.disagreement import Disagreement, differing
from covey.core.message import Kind, Message
from covey.core.post import Post, PostState
from covey.core.task import Task, TaskState


def task_faults(task: Task, message: Message, copies: Sequence[Delivery]) -> Iterator[Disagreement]:
    """Check one task against the message that handed it over, and against itself."""
    said = (message.id, Kind.TASK, message.sender.agent, message.scope, message.deadline)
    kept = (task.id, message.kind, task.delegator, task.scope, task.deadline)
    yield from differing("task's message", task.id, said, kept)
    if task.agent not in {copy.agent for copy in copies}:
        yield Disagreement("task's agent", task.id, "one that its message is for", task.agent)
    yield from differing("finish", task.id, task.is_finished, task.finished_at is not None)
    is_free = task.claimed_by is None and task.abandoned_at is None
    if task.is_finished and not is_free:
        yield Disagreement("claim", task.id, "none on a finished task", str(task.claimed_by or task.abandoned_at))
    if task.claimed_by is not None and (task.attempt < 1 or task.abandoned_at is not None):
        yield Disagreement("claim", task.id, "one with a number, not abandoned", f"attempt {task.attempt}")
    if task.state is TaskState.PENDING and task.abandoned_at is not None:
        yield Disagreement("claim", task.id, "none abandoned before it is accepted", str(task.abandoned_at))
    if task.is_finished:
        left = [copy.id for copy in copies if copy.state in WAITING]
        yield from differing("finished task that still waits", task.id, [], left)


def update_faults(task: Task, what: str, update: Message | None) -> Iterator[Disagreement]:
    """Check the update that reported the progress or the end of a task."""
    if update is None:
        yield Disagreement(what, task.id, "a message", "none")
        return
    told = update.task and update.task.id
    expected = (Kind.UPDATE, task.id, task.id)
    yield from differing(what, task.id, expected, (update.kind, update.in_reply_to, told))


def post_faults(post: Post, copy: Delivery) -> Iterator[Disagreement]:
    """Check one post against the delivery that it carries."""
    yield from differing("post's delivery", post.id, (copy.message_id, copy.agent), (post.message_id, post.channel))
    if post.state is PostState.DELIVERED and copy.state in WAITING:
        yield Disagreement("posted delivery", post.id, "an end", copy.state)
    if post.state is not PostState.PENDING and (post.next_at is not None or post.holder is not None):
        yield Disagreement("post", post.id, "no holder and no next attempt", str(post.holder or post.next_at))
