"""Tasks and posts under audit: compared with the journal, the rules and the listings."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from covey.core.care.account import Disagreement, differing, task_account
from covey.core.care.consistency import post_faults, task_faults, update_faults
from covey.core.care.replay import Bound, Replay
from covey.core.channels.post import PostState
from covey.core.ids import MessageId
from covey.core.ledger.delivery import WAITING, Delivery
from covey.core.ledger.message import Message
from covey.core.work.task import Task
from covey.ports.store import Transaction
from covey.ports.work import TaskFilter
from covey.services.care.audit_books import Books

RECENT: Final = 10_000
"""The number of newest tasks that are looked up in the journal; damage from a crash is among them."""


async def message_task_faults(
    tx: Transaction, replay: Replay, books: Books, message: Message, copies: Sequence[Delivery]
) -> AsyncIterator[Disagreement]:
    """Examine the task that a message hands over, or check that there is none."""
    task, account = await tx.tasks.get(message.id), replay.tasks.get(message.id)
    if task is None:
        is_open = any(copy.state in WAITING and copy.agent is not None for copy in copies)
        if account is not None and (is_open or not account.is_untouched):
            yield Disagreement("task", message.id, "a record, because it was handed over", "none")
        return
    books.enter_task(task)
    for fault in (
        *differing("task", task.id, account, task_account(task)),
        *task_faults(task, message, copies),
    ):
        yield fault
    for what, update_id in (("progress", task.progress), ("result", task.result)):
        async for fault in _update(tx, task, what, update_id):
            yield fault
    if task.parent is not None and await _is_lost(tx, task.parent):
        yield Disagreement("parent", task.id, f"a task {task.parent}", "none")


async def message_post_faults(
    tx: Transaction, replay: Replay, copies: Sequence[Delivery]
) -> AsyncIterator[Disagreement]:
    """Examine the posts of a message's deliveries."""
    for copy in copies:
        post, state = await tx.posts.get(copy.id), replay.posts.get(copy.id)
        if post is None and state is None:
            continue
        for fault in differing("post", copy.id, state or PostState.PENDING, post and post.state):
            yield fault
        for fault in post_faults(post, copy) if post is not None else ():
            yield fault


async def task_listing_faults(tx: Transaction, replay: Replay, books: Books) -> AsyncIterator[Disagreement]:
    """Check that pending and held tasks are listed under their agents and sessions, and that every recent task is in
    the journal."""
    held: list[str] = []
    for agent in sorted(replay.agents):
        pending, mine = books.tasks.pending.get(agent, set()), books.tasks.held.get(agent, set())
        for fault in (
            *differing(
                "pending tasks of", agent, sorted(pending), _ids(await tx.tasks.pending(agent, len(pending) + 1))
            ),
            *differing("held tasks of", agent, sorted(mine), _ids(await tx.tasks.held(agent))),
        ):
            yield fault
        held += mine
    for fault in differing("held tasks", "space", sorted(held), _ids(await tx.tasks.all_held())):
        yield fault
    for session_id, account in replay.sessions.items():
        expected = () if account.has_ended else books.tasks.of_session.get(session_id, ())
        for fault in differing("tasks of", session_id, sorted(expected), _ids(await tx.tasks.of_session(session_id))):
            yield fault
    for task in await tx.tasks.find(TaskFilter(), RECENT):
        if task.id not in replay.tasks:
            yield Disagreement("event", task.id, "one that tells that it was handed over", "none")


async def binding_faults(tx: Transaction, replay: Replay, _books: Books) -> AsyncIterator[Disagreement]:
    """Check that every bound conversation is in the journal."""
    for binding in await tx.bindings.all():
        if Bound(binding.channel, binding.conversation, binding.to.value) not in replay.bound:
            name = f"{binding.channel} {binding.conversation!r}"
            yield Disagreement("binding", name, "an event that tells of it", binding.to.value)


async def _update(tx: Transaction, task: Task, what: str, update_id: MessageId | None) -> AsyncIterator[Disagreement]:
    update = await tx.messages.get(update_id) if update_id is not None else None
    if update_id is None or (update is None and await tx.pruned.has(update_id)):
        return  # a long thread is pruned in parts, newest first
    for fault in update_faults(task, what, update):
        yield fault


async def _is_lost(tx: Transaction, task_id: MessageId) -> bool:
    return await tx.tasks.get(task_id) is None and not await tx.pruned.has(task_id)


def _ids(tasks: Sequence[Task]) -> list[str]:
    return sorted(task.id for task in tasks)
