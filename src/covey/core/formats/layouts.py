"""Dispatch by layout: the only place that knows the module of each."""

from covey.core.formats import dialogue as layout_dialogue
from covey.core.formats import mailbox as layout_mailbox
from covey.core.formats.foreign_files import envelope
from covey.core.formats.layout import Copy, Layout, Paper
from covey.core.ledger.message import Message
from covey.core.ledger.wire import encode

__all__ = ["envelope", "file_name", "paper", "written"]


def file_name(layout: Layout, copy: Copy) -> str:
    """Return the name of the file that Covey writes for an agent's copy."""
    if layout is Layout.DIALOGUE:
        return layout_dialogue.file_name(copy.file_id)
    return layout_mailbox.file_name(copy.file_id, copy.sender, copy.microsecond, copy.number)


def written(layout: Layout, message: Message, copy: Copy, document: str | None = None) -> bytes:
    """Return the content of the file for an agent's copy. A caller that has the message as JSON passes it as
    `document`."""
    write = layout_dialogue.written if layout is Layout.DIALOGUE else layout_mailbox.written
    return write(message, copy, document or encode(message))


def paper(layout: Layout, content: bytes, owner: str) -> Paper:
    """Parse a file that a foreign program put into the folder of `owner`. Raise Invalid if it can't be parsed."""
    read = layout_dialogue.paper if layout is Layout.DIALOGUE else layout_mailbox.paper
    return read(content, owner)
