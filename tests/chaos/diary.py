"""The diary: operations that were acknowledged to a worker, each written down after its acknowledgement."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from covey.core.identity import parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import AgentName, DeliveryId, MessageId, Scope, Subject
from covey.core.times import format_instant, parse_instant


class Sent(NamedTuple):
    """A message that was acknowledged, with all data needed to send it again."""

    agent: AgentName
    draft: Draft
    deliveries: tuple[DeliveryId, ...]


class Done(NamedTuple):
    """Another acknowledged operation."""

    what: str
    """settled, archived or withdrawn."""
    message_id: MessageId
    agent: AgentName


class Trouble(NamedTuple):
    """An error that should not have happened to a worker."""

    text: str


Entry = Sent | Done | Trouble


class Diary:
    """The diary file of one worker. A written line is in the kernel, so the worker's death loses none."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def sent(self, entry: Sent) -> None:
        draft = entry.draft
        self._write(
            {
                "sent": draft.id,
                "agent": entry.agent,
                "deliveries": entry.deliveries,
                "kind": draft.kind,
                "to": [address.value for address in draft.to],
                "text": draft.parts[0].text if isinstance(draft.parts[0], TextPart) else "",
                "subject": draft.subject,
                "scope": draft.scope,
                "in_reply_to": draft.in_reply_to,
                "expects_reply": draft.expects_reply,
                "expires_at": format_instant(draft.expires_at) if draft.expires_at else None,
            }
        )

    def done(self, entry: Done) -> None:
        self._write({"done": entry.what, "message": entry.message_id, "agent": entry.agent})

    def trouble(self, entry: Trouble) -> None:
        self._write({"trouble": entry.text})

    def _write(self, entry: dict[str, Any]) -> None:
        os.write(self._descriptor, json.dumps(entry).encode() + b"\n")


def read_diaries(folder: Path) -> Iterator[Entry]:
    """Yield all entries that the workers have written so far."""
    for path in sorted(folder.iterdir()):
        for line in path.read_bytes().split(b"\n")[:-1]:
            yield _parse(json.loads(line))


def _parse(entry: dict[str, Any]) -> Entry:
    if "trouble" in entry:
        return Trouble(entry["trouble"])
    if "done" in entry:
        return Done(entry["done"], MessageId(entry["message"]), AgentName(entry["agent"]))
    draft = Draft(
        Kind(entry["kind"]),
        tuple(parse_address(address) for address in entry["to"]),
        (TextPart(entry["text"]),),
        id=MessageId(entry["sent"]),
        subject=Subject(entry["subject"]) if entry["subject"] else None,
        scope=Scope(entry["scope"]) if entry["scope"] else None,
        in_reply_to=MessageId(entry["in_reply_to"]) if entry["in_reply_to"] else None,
        expects_reply=entry["expects_reply"],
        expires_at=parse_instant(entry["expires_at"]) if entry["expires_at"] else None,
    )
    return Sent(AgentName(entry["agent"]), draft, tuple(DeliveryId(copy) for copy in entry["deliveries"]))
