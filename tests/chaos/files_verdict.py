"""The verdict on a folder: its files are compared with the ledger. Each copy must be there once, in its place."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from covey.core.coroutine import finish
from covey.core.formats.layout import Layout, Shelf, standing
from covey.core.ledger.event import Action
from covey.core.names import AgentName, MessageId, ticket_id
from covey.engines import connect_inline, parse_store_url
from covey.ports.ledger import EventFilter
from covey.ports.store import Transaction

ALL = 10_000_000
SHELVES: Mapping[Layout, Mapping[str, Shelf]] = {
    Layout.DIALOGUE: {
        "inbox/*/*.json": Shelf.INBOX,
        "archive/*.json": Shelf.ARCHIVE,
        "archive/by-task/*/*.json": Shelf.SWEPT,
    },
    Layout.MAILBOX: {"*/inbox/*.msg.json": Shelf.INBOX, "*/processed/*.msg.json": Shelf.ARCHIVE},
}


class Copy(NamedTuple):
    """The copy of one message that one agent has."""

    message_id: str
    agent: str


class Wanted(NamedTuple):
    """The files that should be in the folder, according to the ledger."""

    shelves: Mapping[Copy, Shelf]
    foreign: Mapping[tuple[str, str], Sequence[str]]
    """The ids of accepted foreign messages, by their foreign id and recipient."""
    pruned: int
    """The number of pruned messages."""


def judge_folder(root: Path, layout: Layout) -> list[str]:
    """Return the faults of a folder that is synchronised and no longer in use."""
    wanted = wanted_in(root, layout)
    found: dict[Copy, list[Shelf]] = {}
    faults: list[str] = []
    for path, shelf in files_in(root, layout):
        data = json.loads(path.read_bytes())
        to = data["to"] if layout is Layout.DIALOGUE else path.relative_to(root).parts[0]
        ours = data.get("covey")
        ids = [ours["id"]] if ours else list(wanted.foreign.get((data["id"], to), ()))
        if not ids and not wanted.pruned:
            faults.append(f"{path.relative_to(root)} was never taken in")
        for message_id in ids[:1]:
            is_theirs = not ours and shelf is Shelf.SWEPT and wanted.shelves.get(Copy(message_id, to)) is Shelf.ARCHIVE
            # A foreign sweep stays, even if messages of that task are still open in the ledger.
            found.setdefault(Copy(message_id, to), []).append(Shelf.ARCHIVE if is_theirs else shelf)
    faults += [
        f"{elsewhere} was taken in {len(ids)} times" for elsewhere, ids in wanted.foreign.items() if len(ids) > 1
    ]
    for copy, shelf in wanted.shelves.items():
        if found.get(copy, []) != [shelf]:
            faults.append(f"{copy} should stand in {shelf} and stands in {found.get(copy, [])}")
    faults += [
        f"{copy} stands in {places} and should not" for copy, places in found.items() if _is_odd(copy, places, wanted)
    ]
    if layout is Layout.DIALOGUE:
        faults += judge_manifest(root, wanted)
    return faults


def files_in(root: Path, layout: Layout) -> Iterable[tuple[Path, Shelf]]:
    """Yield the files of messages."""
    for pattern, shelf in SHELVES[layout].items():
        for path in root.glob(pattern):
            yield path, shelf


def judge_manifest(root: Path, wanted: Wanted) -> list[str]:
    """Return the faults of the manifest: invalid lines, and events that are listed twice or not at all."""
    *lines, last = (root / "manifest.jsonl").read_bytes().split(b"\n")
    told: Counter[tuple[str, str, str]] = Counter()
    faults = [] if not last else [f"the last line of the manifest is torn: {last!r}"]
    for line in lines:
        try:
            data = json.loads(line)
        except ValueError:
            faults.append(f"the manifest has a line that is none: {line!r}")
        else:
            told[data["event"], str(data.get("id")), str(data.get("to"))] += data["event"] != "task-swept"
    faults += [f"{event} is told {count} times" for event, count in told.items() if count > 1]
    sent = {(to, file_id) for event, file_id, to in told if event == "sent"}
    if not wanted.pruned:
        ours = (
            data for path, _ in files_in(root, Layout.DIALOGUE) if "covey" in (data := json.loads(path.read_bytes()))
        )
        faults += [f"{data['id']} was never told as sent" for data in ours if (data["to"], data["id"]) not in sent]
    return faults


def wanted_in(root: Path, layout: Layout) -> Wanted:
    """Return the files that the ledger of a folder wants. Opening the store synchronises the folder first."""
    ports = connect_inline(parse_store_url(f"files:{root}?layout={layout}"), ())
    try:
        return finish(ports.store.read(lambda tx: _wanted(tx, layout)))
    finally:
        finish(ports.close())


async def _wanted(tx: Transaction, layout: Layout) -> Wanted:
    shelves: dict[Copy, Shelf] = {}
    foreign: dict[tuple[str, str], list[str]] = {}
    for event in await tx.journal.read(0, ALL, EventFilter(action=Action.MESSAGE_SENT)):
        assert event.message_id is not None
        message = await tx.messages.get(event.message_id)
        if message is None:
            continue
        elsewhere = None if message.marks is None else message.marks.foreign_id
        for agent, shelf in (await _shelves(tx, layout, event.message_id)).items():
            shelves[Copy(message.id, agent)] = shelf
            if elsewhere is not None:
                foreign.setdefault((str(elsewhere), agent), []).append(message.id)
    return Wanted(shelves, foreign, await tx.pruned.count())


async def _shelves(tx: Transaction, layout: Layout, message_id: MessageId) -> Mapping[AgentName, Shelf]:
    copies = await tx.deliveries.of_message(message_id)
    is_swept = await tx.messages.is_swept(message_id)
    found: dict[AgentName, Shelf] = {}
    for agent in {copy.agent for copy in copies if copy.agent is not None}:
        ticket = await tx.tickets.get(ticket_id(message_id, agent))
        shelf = standing(layout, [copy for copy in copies if copy.agent == agent], ticket, is_swept=is_swept)
        if shelf is not None:
            found[agent] = shelf
    return found


def _is_odd(copy: Copy, places: Sequence[Shelf], wanted: Wanted) -> bool:
    """Return True if a copy should not be there. A withdrawn copy may be in the archive."""
    return copy not in wanted.shelves and not wanted.pruned and places != [Shelf.ARCHIVE]
