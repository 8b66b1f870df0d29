"""Files of the mirror: the names and places of copies in the folder, and the message that a file holds: a copy of ours,
a message that was taken in before, or a new one."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from covey.core.errors import Invalid
from covey.core.formats.folder_files import envelope, paper
from covey.core.formats.layout import (
    FileCopy,
    FilePlace,
    ForeignMessage,
    KnownFile,
    Layout,
    Shelf,
    agent_of,
    derived_id,
    file_id,
    is_folder_name,
    millis_of,
    recipient_of,
)
from covey.core.identity import Identity
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.message import Kind, Message
from covey.core.names import AgentName, MessageId, parse_message_id
from covey.ports.clock import Clock
from covey.ports.folder import ArrivedFile, Visit
from covey.ports.store import Store, Transaction
from covey.services.mail.attachments import Attachments
from covey.services.mail.filing import NoticePorts

BY_OTHERS: Final = "archived by another program"
"""The reason on a copy that a foreign program has archived."""


class MirrorContext(NamedTuple):
    """The dependencies of a pass. The store is the ledger itself, so that a pass never triggers another."""

    store: Store
    layout: Layout
    clock: Clock
    notice_ports: NoticePorts
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


async def spot_of(
    visit: Visit, layout: Layout, shelf: Shelf, agent: AgentName, name: str, scope: str | None
) -> FilePlace:
    """Return the place of an agent's copy on a shelf."""
    if shelf is Shelf.SWEPT:
        return FilePlace(shelf, "", name, scope or "")
    is_shared = shelf is Shelf.ARCHIVE and layout is Layout.DIALOGUE
    return FilePlace(shelf, "" if is_shared else await visit.owner_of(agent), name)


async def copy_of(
    visit: Visit,
    message: Message,
    agent: AgentName,
    known: KnownFile | None,
    is_only: bool,
    task: Message | None,
    number: int = 0,
) -> FileCopy:
    """Return a copy with the names that foreign programs use. `task` is the message that handed over the task it is
    about, `number` is the message's number in the agent's inbox."""
    return FileCopy(
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


class IdentifiedFile(NamedTuple):
    """A file that could be read."""

    arrived: ArrivedFile
    paper: ForeignMessage
    sender: AgentName
    agent: AgentName
    """The recipient."""
    message_id: MessageId
    is_known: bool
    """True if the ledger has that message."""
    is_ours: bool
    """True if a program of this space wrote the file."""

    @property
    def millis(self) -> int:
        return millis_of(self.paper, self.arrived.spot.name)


class MessageRecords(NamedTuple):
    """The ledger's records under an id."""

    message: Message | None
    copies: tuple[DeliveryRecord, ...]
    is_pruned: bool


async def read_file(
    ground: MirrorContext, visit: Visit, arrived: ArrivedFile, gone: Collection[FilePlace]
) -> IdentifiedFile:
    """Identify a file. Raise Invalid, with the reason, if that is impossible or the file must not count. A file that is
    gone from its old place and is here now was moved."""
    said = paper(ground.layout, arrived.content, arrived.spot.owner)
    sender, agent = await sender_called(visit, said.sender), await owner_called(visit, said.to)
    if any(known.spot == arrived.spot for known in await visit.known(said.id)):
        raise _changed(arrived)  # an editor may save a file by replacing it
    ours = await _ours(ground, arrived, said, agent)
    message_id, is_known = (ours, True) if ours is not None else await _theirs(ground, arrived, said, sender, agent)
    read = IdentifiedFile(arrived, said, sender, agent, message_id, is_known, ours is not None)
    for known in await visit.copies(message_id):
        if known.agent == agent and known.spot == arrived.spot:
            raise _changed(arrived)
        if known.agent == agent and known.spot not in gone:
            raise Invalid("file", arrived.spot.name, f"it is a second copy of {known.spot.name}")
    return read


def _changed(arrived: ArrivedFile) -> Invalid:
    return Invalid("file", arrived.spot.name, "it was changed, and messages never change")


async def known_as(visit: Visit, read: IdentifiedFile) -> KnownFile:
    """Return the entry under which a file is remembered. If the file has no id, or shares its id with another message
    of the same agent, the message's id is used."""
    own = read.paper.id or read.message_id
    others = [known for known in await visit.known(own) if known.agent == read.agent]
    if any(known.message_id != read.message_id for known in others):
        own = read.message_id
    return KnownFile(own, read.message_id, read.agent, read.arrived.spot, read.is_ours)


async def _ours(
    ground: MirrorContext, arrived: ArrivedFile, said: ForeignMessage, agent: AgentName
) -> MessageId | None:
    """Return the message that our own file is a copy of, if the ledger confirms the file's content."""
    named = envelope(arrived.content)
    if named is None or said.id not in {file_id(named.id, agent, is_only) for is_only in (True, False)}:
        return None
    filed = await _filed(ground, named.id)
    is_confirmed = filed.message == named and any(copy.agent == agent for copy in filed.copies)
    return named.id if is_confirmed else None


async def _theirs(
    ground: MirrorContext, arrived: ArrivedFile, said: ForeignMessage, sender: AgentName, agent: AgentName
) -> tuple[MessageId, bool]:
    """Return the message id for a foreign file, and whether it was taken in before. An id in our form is kept if it is
    free; any other id is derived from the content, so that the same file is the same message."""
    try:
        kept = parse_message_id(said.id) if ground.layout is Layout.DIALOGUE else None
    except Invalid:
        kept = None
    if kept is not None:
        filed = await _filed(ground, kept)
        _check_not_pruned(filed, arrived)
        if filed.message is None:
            return kept, False
        if _is_it(filed, said, sender, agent):
            return kept, True
    derived = derived_id(ground.layout, said.to, said.id, arrived.digest, millis_of(said, arrived.spot.name))
    filed = await _filed(ground, derived)
    _check_not_pruned(filed, arrived)
    return derived, filed.message is not None


def _check_not_pruned(filed: MessageRecords, arrived: ArrivedFile) -> None:
    if filed.is_pruned:
        raise Invalid("file", arrived.spot.name, "its message was pruned")


def _is_it(filed: MessageRecords, said: ForeignMessage, sender: AgentName, agent: AgentName) -> bool:
    """Tell whether a message was taken in from such a file before."""
    message = filed.message
    if message is None or message.marks is None or message.sender.agent != sender:
        return False
    if message.marks.foreign_id != said.id:
        return False
    return message.text == said.text and any(copy.agent == agent for copy in filed.copies)


async def _filed(ground: MirrorContext, message_id: MessageId) -> MessageRecords:
    async def operation(tx: Transaction) -> MessageRecords:
        message = await tx.messages.get(message_id)
        if message is None:
            return MessageRecords(None, (), await tx.pruned.has(message_id))
        return MessageRecords(message, tuple(await tx.deliveries.of_message(message_id)), False)

    return await ground.store.read(operation)


async def messages_called(visit: Visit, name: str | None, sender: AgentName) -> Sequence[MessageId]:
    """Return the messages that a sender may mean by an id, the likeliest first: those it received itself, those that
    others received, and the one with that id here."""
    if not name:
        return ()
    known = await visit.known(name)
    found = [one.message_id for one in known if one.agent == sender] + [one.message_id for one in known]
    with suppress(Invalid):
        found.append(parse_message_id(name))
    return tuple(dict.fromkeys(found))


async def first_message(tx: Transaction, ids: Sequence[MessageId]) -> Message | None:
    """Return the first of these messages that exists."""
    for message_id in ids:
        message = await tx.messages.get(message_id)
        if message is not None:
            return message
    return None
