"""The ground of the mirror: the dependencies of every part of a pass, and functions that the parts share."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from covey.core.formats.foreign_ids import agent_of, file_id, is_folder_name, recipient_of
from covey.core.formats.layout import Copy, KnownFile, Layout, Shelf, Spot
from covey.core.identity import Identity
from covey.core.ledger.message import Kind, Message
from covey.core.names import AgentName
from covey.ports.clock import Clock
from covey.ports.folder import Visit
from covey.ports.store import Store
from covey.services.mail.attachments import Attachments
from covey.services.mail.updates import NoticePorts

BY_OTHERS: Final = "archived by another program"
"""The reason on a copy that a foreign program has archived."""


class Ground(NamedTuple):
    """The dependencies of a pass. The store is the ledger itself, so that a pass never triggers another."""

    store: Store
    layout: Layout
    clock: Clock
    desk: NoticePorts
    attachments: Attachments | None = None
    """Storage for file parts, those of foreign programs and ours; None if only their paths are kept."""


def foreigner(agent: AgentName) -> Identity:
    """Return the unverified identity of a foreign program."""
    return Identity(agent)


def is_foreign(message: Message) -> bool:
    """Tell whether a foreign program sent a message."""
    return message.marks is not None and message.marks.foreign_id is not None


async def sender_called(visit: Visit, name: str) -> AgentName:
    """Return the agent that a sender's foreign name stands for."""
    return await _called(visit, name, agent_of(name))


async def owner_called(visit: Visit, name: str) -> AgentName:
    """Return the agent that a recipient's foreign name stands for."""
    return await _called(visit, name, recipient_of(name))


async def _called(visit: Visit, name: str, agent: AgentName) -> AgentName:
    known = await visit.agent_called(name)
    if known is not None:
        return known
    if agent != name and is_folder_name(name):
        await visit.call(agent, name)
    return agent


async def spot_of(visit: Visit, layout: Layout, shelf: Shelf, agent: AgentName, name: str, scope: str | None) -> Spot:
    """Return the place of an agent's copy on a shelf."""
    if shelf is Shelf.SWEPT:
        return Spot(shelf, "", name, scope or "")
    is_shared = shelf is Shelf.ARCHIVE and layout is Layout.DIALOGUE
    return Spot(shelf, "" if is_shared else await visit.owner_of(agent), name)


async def copy_of(
    visit: Visit,
    message: Message,
    agent: AgentName,
    known: KnownFile | None,
    is_only: bool,
    task: Message | None,
    number: int = 0,
) -> Copy:
    """Return a copy with the names that foreign programs use. `task` is the message that handed over the task it is
    about, `number` is the message's number in the agent's inbox."""
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
    """Return the file's id for the message that this one answers: of the sender's own copy, otherwise of any copy."""
    if message.in_reply_to is None:
        return None
    copies: Sequence[KnownFile] = await visit.copies(message.in_reply_to)
    own = [known for known in copies if known.agent == message.sender.agent]
    return next((known.file_id for known in (*own, *copies)), message.in_reply_to)


def _their_task(task: Message | None) -> str | None:
    """Return the id that a foreign program gave the task that it handed over."""
    if task is None or task.kind is not Kind.TASK or task.marks is None:
        return None
    return task.marks.foreign_task or task.marks.foreign_id or None
