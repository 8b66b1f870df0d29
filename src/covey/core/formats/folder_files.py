"""Files of a shared folder: their names and content in each layout, and the conversion of a foreign program's file to a
message. Only this module knows the module of each layout."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from covey.core.formats import dialogue as layout_dialogue
from covey.core.formats import mailbox as layout_mailbox
from covey.core.formats.foreign_files import envelope, scope_of, subject_of
from covey.core.formats.layout import EPOCH, FileCopy, ForeignMessage, Layout, agent_of
from covey.core.identity import Address, AddressKind, Identity
from covey.core.json import Json
from covey.core.ledger.draft import Draft, compose, is_back_to
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import DataPart, FilePart, Kind, Message, Part, TaskRef, TextPart
from covey.core.ledger.wire import encode
from covey.core.limits import INITIAL_HOPS
from covey.core.names import AgentName, MessageId

__all__ = ["envelope", "file_name", "paper", "written"]


def file_name(layout: Layout, copy: FileCopy) -> str:
    """Return the name of the file that Covey writes for an agent's copy."""
    if layout is Layout.DIALOGUE:
        return layout_dialogue.file_name(copy.file_id)
    return layout_mailbox.file_name(copy.file_id, copy.sender, copy.microsecond, copy.number)


def written(layout: Layout, message: Message, copy: FileCopy, document: str | None = None) -> bytes:
    """Return the content of the file for an agent's copy. A caller that has the message as JSON passes it as
    `document`."""
    write = layout_dialogue.written if layout is Layout.DIALOGUE else layout_mailbox.written
    return write(message, copy, document or encode(message))


def paper(layout: Layout, content: bytes, owner: str) -> ForeignMessage:
    """Parse a file that a foreign program put into the folder of `owner`. Raise Invalid if it can't be parsed."""
    read = layout_dialogue.paper if layout is Layout.DIALOGUE else layout_mailbox.paper
    return read(content, owner)


FOREIGN = "foreign"
"""The metadata field for other data of a file. It is kept apart, because Covey does not interpret it."""


def incoming(
    paper: ForeignMessage,
    message_id: MessageId,
    sender: Identity,
    to: AgentName,
    now: datetime,
    answered: Message | None = None,
    task: MessageId | None = None,
    snapshots: Mapping[str, FilePart] = MappingProxyType({}),
) -> Message:
    """Return the message for a file. `answered` is the message that it answers, `task` the task that an update is
    about, if they are known. A response to an unknown message becomes a notify. `snapshots` are the attached files that
    could be stored, by their paths."""
    kind = Kind.NOTIFY if paper.kind is Kind.RESPONSE and answered is None else paper.kind
    if kind is Kind.TASK:
        answered = None  # a subtask refers to its parent by its path, not by a reply
    address = Address(AddressKind.AGENT, to)
    draft = Draft(
        kind=kind,
        to=(address,),
        parts=_parts(paper, snapshots),
        subject=subject_of(paper.subject),
        scope=scope_of(paper.scope),
        round=paper.round,
        in_reply_to=answered.id if answered else None,
        expects_reply=paper.expects_reply,
        task=TaskRef(task, paper.task_state) if task is not None and kind is Kind.UPDATE else None,
        callback=paper.callback,
        deadline=paper.deadline,
        metadata=_metadata(paper, answered, task),
    )
    message = compose(draft, sender, message_id, now, answered)._replace(
        created_at=_made_at(paper, message_id, now),
        marks=Marks(foreign_id=paper.id, foreign_task=paper.task_id if task is None else None),
    )
    if answered is not None and is_back_to(address, answered):
        return message
    return _on_its_path(message, paper)


def _on_its_path(message: Message, paper: ForeignMessage) -> Message:
    """Return the message with the hops and the trace of its file, as far as they are plausible."""
    passed = [name for name in dict.fromkeys(map(agent_of, paper.trace)) if name != message.sender.agent]
    hops_left = message.hops_left if paper.ttl is None else min(paper.ttl, INITIAL_HOPS - 1)
    return (
        message._replace(hops_left=hops_left, trace=(*passed, message.sender.agent))
        if passed
        else (message._replace(hops_left=hops_left))
    )


def _parts(paper: ForeignMessage, snapshots: Mapping[str, FilePart]) -> tuple[Part, ...]:
    """Return the parts of the message. A file that could not be stored is a data part with its path."""
    others: list[Part] = [
        *(DataPart(item) for item in paper.data),
        *(snapshots.get(path) or DataPart({"type": "file", "path": path}) for path in paper.files),
    ]
    text = paper.text or (paper.task_state if not others else None) or ""
    return (TextPart(text), *others) if text or not others else tuple(others)


def _metadata(paper: ForeignMessage, answered: Message | None, task: MessageId | None) -> Mapping[str, Json]:
    """Return the fields of the file that have no place in a message."""
    unsaid: dict[str, Json] = dict(paper.metadata)
    if answered is None and paper.in_reply_to is not None:
        unsaid["in_reply_to"] = paper.in_reply_to
    if task is None and paper.task_id is not None:
        unsaid |= {"task_id": paper.task_id, "task_state": paper.task_state}
    return {FOREIGN: unsaid} if unsaid else {}


def _made_at(paper: ForeignMessage, message_id: MessageId, now: datetime) -> datetime:
    """Return the time of the message, from its file or its id; `now` if both are missing or in the future."""
    millis = int(message_id[:13])
    made_at = paper.created_at or (EPOCH + timedelta(milliseconds=millis) if millis else now)
    return min(made_at, now)
