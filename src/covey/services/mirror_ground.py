"""The ground of the mirror: what every part of a pass works with, and words that they have in common."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.core.identity import Identity
from covey.core.layout import Copy, Known, Layout, Shelf, Spot
from covey.core.layout_ids import agent_of, file_id, is_folder_name, recipient_of
from covey.core.message import Kind, Message
from covey.core.names import AgentName
from covey.ports.clock import Clock
from covey.ports.folder import Visit
from covey.ports.store import Store
from covey.services.attachments import Attachments
from covey.services.updates import Desk

BY_OTHERS: Final = "archived by another program"
"""Why a copy was settled that a foreign program has put away."""


class Ground(NamedTuple):
    """What a pass works with. The store is the ledger itself: a pass never leads to another."""

    store: Store
    layout: Layout
    clock: Clock
    desk: Desk
    attachments: Attachments | None = None
    """What keeps file parts, those of foreign programs and ours; None where paths are all that is told of them."""


def foreigner(agent: AgentName) -> Identity:
    """Return who acts where a foreign program does: nobody checks it."""
    return Identity(agent)


def is_foreign(message: Message) -> bool:
    """Tell whether a foreign program sent a message."""
    return message.marks is not None and message.marks.foreign_id is not None


async def sender_called(visit: Visit, name: str) -> AgentName:
    """Return the agent that a foreign name stands for who wrote something."""
    return await _called(visit, name, agent_of(name))


async def owner_called(visit: Visit, name: str) -> AgentName:
    """Return the agent that a foreign name stands for who is written to."""
    return await _called(visit, name, recipient_of(name))


async def _called(visit: Visit, name: str, agent: AgentName) -> AgentName:
    known = await visit.agent_called(name)
    if known is not None:
        return known
    if agent != name and is_folder_name(name):
        await visit.call(agent, name)
    return agent


async def spot_of(visit: Visit, layout: Layout, shelf: Shelf, agent: AgentName, name: str, scope: str | None) -> Spot:
    """Return where a copy of an agent stands on a shelf."""
    if shelf is Shelf.SWEPT:
        return Spot(shelf, "", name, scope or "")
    is_shared = shelf is Shelf.ARCHIVE and layout is Layout.DIALOGUE
    return Spot(shelf, "" if is_shared else await visit.owner_of(agent), name)


async def copy_of(
    visit: Visit,
    message: Message,
    agent: AgentName,
    known: Known | None,
    is_only: bool,
    task: Message | None,
    number: int = 0,
) -> Copy:
    """Return a copy as foreign programs know it. `task` is the message that handed over what it is about, `number` the
    message's in the agent's inbox."""
    return Copy(
        known.file_id if known is not None else file_id(message.id, agent, is_only),
        await visit.owner_of(message.sender.agent),
        await visit.owner_of(agent),
        await _answered(visit, message),
        _their_task(task),
        message.created_at.microsecond,
        number,
    )


async def _answered(visit: Visit, message: Message) -> str | None:
    """Return the id in the file that a message answers: of the copy that its sender had, else of any."""
    if message.in_reply_to is None:
        return None
    copies: Sequence[Known] = await visit.copies(message.in_reply_to)
    own = [known for known in copies if known.agent == message.sender.agent]
    return next((known.file_id for known in (*own, *copies)), message.in_reply_to)


def _their_task(task: Message | None) -> str | None:
    """Return the id that a foreign program gave the task that it handed over."""
    if task is None or task.kind is not Kind.TASK or task.marks is None:
        return None
    return task.marks.foreign_task or task.marks.foreign_id or None
