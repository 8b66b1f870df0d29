"""The headline of a message and its parts other than text, for people."""

import json
from collections.abc import Sequence
from datetime import datetime

from covey.core.ledger.message import DataPart, FilePart, Message, TextPart
from covey.core.work.approval import approval_data
from covey.surfaces.cli.options.when import age
from covey.surfaces.cli.terminal.letters import clipped

LONGEST_DATA = 200
APPROVAL = frozenset({"type", "request_id", "approve", "reason", "feedback"})


def headline(message: Message, now: datetime) -> Sequence[tuple[str, str]]:
    """Return kind, sender, recipients, topic and age of a message, as pieces with their styles."""
    to = ", ".join(address.value for address in message.to)
    topic = about(message)
    return [
        (f"{message.kind} ", "bold"),
        (str(message.sender), "cyan"),
        (f" → {to}", ""),
        (f"  {topic}" if topic else "", "magenta"),
        (f"  {age(message.created_at, now)} ago", "dim"),
    ]


def about(message: Message) -> str:
    """Return the topic of a message: its scope, round and subject, if it has them."""
    scope = f"{message.scope}#{message.round}" if message.scope and message.round is not None else message.scope
    return " · ".join(filter(None, (scope, message.subject)))


def extras(message: Message) -> Sequence[str]:
    """Return a line for each part that is not text. The standard fields of an approval are left out."""
    told = approval_data(message)
    return [
        _extra(part)
        for part in message.parts
        if not isinstance(part, TextPart)
        and not (isinstance(part, DataPart) and part.data is told and told is not None and told.keys() <= APPROVAL)
    ]


def _extra(part: FilePart | DataPart) -> str:
    if isinstance(part, FilePart):
        return f"file {part.name}, {part.size:,} bytes, sha256 {part.digest[:12]}"
    return f"data {clipped(json.dumps(part.data, ensure_ascii=False), LONGEST_DATA)}"
