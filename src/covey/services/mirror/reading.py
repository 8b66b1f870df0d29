"""Reading: identifies a file in the folder as a copy of ours, a message that was taken in before, or a new one."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import NamedTuple

from covey.core.errors import Invalid
from covey.core.formats.foreign_ids import derived_id, file_id, millis_of
from covey.core.formats.layout import KnownFile, Layout, Paper, Spot
from covey.core.formats.layouts import envelope, paper
from covey.core.ids import MessageId, parse_message_id
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.message import Message
from covey.core.names import AgentName
from covey.ports.folder import Arrived, Visit
from covey.ports.store import Transaction
from covey.services.mirror.ground import Ground, owner_called, sender_called


class Read(NamedTuple):
    """A file that could be read."""

    arrived: Arrived
    paper: Paper
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


class Filed(NamedTuple):
    """The ledger's records under an id."""

    message: Message | None
    copies: tuple[Delivery, ...]
    is_pruned: bool


async def read_file(ground: Ground, visit: Visit, arrived: Arrived, gone: Collection[Spot]) -> Read:
    """Identify a file. Raise Invalid, with the reason, if that is impossible or the file must not count. A file that is
    gone from its old place and is here now was moved."""
    said = paper(ground.layout, arrived.content, arrived.spot.owner)
    sender, agent = await sender_called(visit, said.sender), await owner_called(visit, said.to)
    if any(known.spot == arrived.spot for known in await visit.known(said.id)):
        raise _changed(arrived)  # an editor may save a file by replacing it
    ours = await _ours(ground, arrived, said, agent)
    message_id, is_known = (ours, True) if ours is not None else await _theirs(ground, arrived, said, sender, agent)
    read = Read(arrived, said, sender, agent, message_id, is_known, ours is not None)
    for known in await visit.copies(message_id):
        if known.agent == agent and known.spot == arrived.spot:
            raise _changed(arrived)
        if known.agent == agent and known.spot not in gone:
            raise Invalid("file", arrived.spot.name, f"it is a second copy of {known.spot.name}")
    return read


def _changed(arrived: Arrived) -> Invalid:
    return Invalid("file", arrived.spot.name, "it was changed, and messages never change")


async def known_as(visit: Visit, read: Read) -> KnownFile:
    """Return the entry under which a file is remembered. If the file has no id, or shares its id with another message
    of the same agent, the message's id is used."""
    own = read.paper.id or read.message_id
    others = [known for known in await visit.known(own) if known.agent == read.agent]
    if any(known.message_id != read.message_id for known in others):
        own = read.message_id
    return KnownFile(own, read.message_id, read.agent, read.arrived.spot, read.is_ours)


async def _ours(ground: Ground, arrived: Arrived, said: Paper, agent: AgentName) -> MessageId | None:
    """Return the message that our own file is a copy of, if the ledger confirms the file's content."""
    named = envelope(arrived.content)
    if named is None or said.id not in {file_id(named.id, agent, is_only) for is_only in (True, False)}:
        return None
    filed = await _filed(ground, named.id)
    is_confirmed = filed.message == named and any(copy.agent == agent for copy in filed.copies)
    return named.id if is_confirmed else None


async def _theirs(
    ground: Ground, arrived: Arrived, said: Paper, sender: AgentName, agent: AgentName
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


def _check_not_pruned(filed: Filed, arrived: Arrived) -> None:
    if filed.is_pruned:
        raise Invalid("file", arrived.spot.name, "it is what is left of a message that was pruned")


def _is_it(filed: Filed, said: Paper, sender: AgentName, agent: AgentName) -> bool:
    """Tell whether a message was taken in from such a file before."""
    message = filed.message
    if message is None or message.marks is None or message.sender.agent != sender:
        return False
    if message.marks.foreign_id != said.id:
        return False
    return message.text == said.text and any(copy.agent == agent for copy in filed.copies)


async def _filed(ground: Ground, message_id: MessageId) -> Filed:
    async def operation(tx: Transaction) -> Filed:
        message = await tx.messages.get(message_id)
        if message is None:
            return Filed(None, (), await tx.pruned.has(message_id))
        return Filed(message, tuple(await tx.deliveries.of_message(message_id)), False)

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
