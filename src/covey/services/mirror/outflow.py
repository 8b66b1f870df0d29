"""Outflow: brings the folder in line with the ledger.

It compares states, not events: the journal only names the messages to compare. So a killed pass is simply repeated, and
finds its finished part as it should be.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

from covey.core.errors import BlobMissing
from covey.core.formats.dialogue import manifest_line, swept_line
from covey.core.formats.folder_files import file_name, written
from covey.core.formats.layout import KnownFile, Layout, Shelf, is_folder_name
from covey.core.json import Json
from covey.core.ledger.delivery import TERMINAL, DeliveryState
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import FilePart, Message, Part, has_files
from covey.core.ledger.ticket import TicketState
from covey.core.ledger.wire import encode
from covey.core.names import AgentName, MessageId, Scope, ticket_id
from covey.core.reporting import Reporting
from covey.ports.folder import Visit, WantedFile
from covey.ports.ledger import EventFilter, MessageFilter
from covey.ports.store import Transaction
from covey.services.dialogue.dialogue import SWEPT
from covey.services.mirror.changes import (
    NOTHING,
    PAGE,
    CopyCache,
    CopyTarget,
    EventPage,
    Stands,
    chained,
    read_page,
    read_targets,
    touched,
)
from covey.services.mirror.files import BY_OTHERS, MirrorContext, copy_of, is_foreign, spot_of

ENDING: Final = frozenset({Action.DELIVERY_MOVED, Action.TICKET_MOVED})
"""Events after which an agent may have nothing left to do about a message."""

EVENTS: Final = 10_000
"""The number of events per message that are searched."""

Line = tuple[int, str]


async def lines_of(ground: MirrorContext, visit: Visit, events: Sequence[Event], shown: CopyCache) -> Sequence[Line]:
    """Return the manifest lines for events. Foreign programs write the lines for their own actions."""
    lines: list[Line] = []
    sweeps = {(event.scope, event.at) for event in events if event.action is Action.MESSAGE_SWEPT}
    for event in events:
        if event.action is Action.MESSAGE_SWEPT:
            lines += _swept(event)
        elif event.message_id is None:
            continue
        elif event.action is Action.MESSAGE_SENT:
            for copy in await shown.of(ground, event.message_id):
                if not is_foreign(copy.message) and _is_queued(event, copy):
                    lines.append(await _line(visit, "sent", copy, event, shown))
        elif event.action in ENDING and _is_end(event) and (event.scope, event.at) not in sweeps:
            for copy in await shown.of(ground, event.message_id):
                if copy.agent == event.agent and await _ended_at(ground, copy) == event.position:
                    lines.append(await _line(visit, "archived", copy, event, shown))
    return lines


def _swept(event: Event) -> Sequence[Line]:
    moved = event.details.get("moved")
    if event.scope is None or event.details.get("reason") == BY_OTHERS or not isinstance(moved, int):
        return ()
    return [(event.position, swept_line(event.scope, moved, event.at, event.position))]


async def _line(
    visit: Visit, word: Literal["sent", "archived"], standing: CopyTarget, event: Event, shown: CopyCache
) -> Line:
    message, agent = standing.message, standing.agent
    copy = shown.copied(standing)
    if copy is None:
        known = next((one for one in await visit.copies(message.id) if one.agent == agent), None)
        copy = await copy_of(visit, message, agent, known, standing.is_only, standing.task)
    return event.position, manifest_line(word, message, copy, event.at, event.position)


def _is_queued(event: Event, copy: CopyTarget) -> bool:
    """Tell whether an agent got a copy when the message was sent."""
    own = {delivery.id for delivery in copy.copies}
    return any(line.get("id") in own and line.get("state") == DeliveryState.QUEUED for line in _lines(event))


def _is_end(event: Event) -> bool:
    """Tell whether an event ends a delivery or a ticket. The effects of a sweep are reported with the sweep."""
    to, reason = event.details.get("to"), event.details.get("reason")
    return event.agent is not None and reason not in (BY_OTHERS, SWEPT) and (to in TERMINAL or to == TicketState.CLOSED)


async def _ended_at(ground: MirrorContext, copy: CopyTarget) -> int | None:
    """Return the position of the event after which an agent had nothing left to do about a message; None if it has, or
    if a foreign program ended it."""
    message_id: MessageId = copy.message.id
    events = await ground.store.read(
        lambda tx: tx.journal.read(0, EVENTS, EventFilter(message_id=message_id)), is_long=True
    )
    own = {str(delivery.id) for delivery in copy.copies}
    ticket: str | None = ticket_id(message_id, copy.agent) if copy.message.expects_reply else None
    return _end(events, own, ticket, copy.agent)


def _end(events: Sequence[Event], own: set[str], ticket: str | None, agent: AgentName) -> int | None:
    if any(event.agent == agent and event.details.get("reason") == BY_OTHERS for event in events):
        return None
    states: dict[str, Json] = {}
    for event in events:
        details = event.details
        if event.action is Action.MESSAGE_SENT:
            states = {str(line.get("id")): line.get("state") for line in _lines(event) if line.get("id") in own}
        elif event.action is Action.DELIVERY_MOVED and details.get("delivery") in own:
            states[str(details["delivery"])] = details.get("to")
        elif event.action is Action.TICKET_MOVED and details.get("ticket") == ticket:
            ticket = None if details.get("to") == TicketState.CLOSED else ticket
        if states and ticket is None and all(state in TERMINAL for state in states.values()):
            return event.position
    return None


def _lines(event: Event) -> Sequence[Mapping[str, Json]]:
    """Return the deliveries listed in an event, if any."""
    listed = event.details.get("deliveries")
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        return ()
    return [line for line in listed if isinstance(line, Mapping)]


ALL_MESSAGES: Final = 1_000_000_000


class Outflow:
    def __init__(self, ground: MirrorContext) -> None:
        self._ground = ground

    async def bring(
        self,
        visit: Visit,
        missing: Sequence[MessageId],
        restless: Sequence[MessageId],
        noted: Collection[EventPage],
        reporting: Reporting,
    ) -> Collection[Action]:
        """Bring the files in line with the journal. Write the missing files of messages, and check those that others
        have moved. Return the actions since the last pass. Pages in `noted` are not read again."""
        if missing:
            await self._stand(visit, missing, is_missing=True)
        if restless:
            await self._stand(visit, restless)
        after = visit.position
        if self._ground.layout is Layout.DIALOGUE:
            after = min(after, visit.manifest_position)
        happened: set[Action] = set()
        is_held = False
        page = chained(after, noted) or await self._page(after)
        if page.last < after:  # the folder is ahead: its ledger was replaced
            page = await self._page(0)
        begun = after
        while page.events:
            shown = await self._follow(visit, page, reporting)
            if self._ground.layout is Layout.DIALOGUE and not is_held:
                is_held = not await self._tell(visit, page.events, shown)
            happened |= {event.action for event in page.events if event.position > visit.position}
            after = page.events[-1].position
            await visit.advance(after)
            if after < page.last:
                reporting.at(after - begun, page.last - begun)
            page = await self._page(after) if after < page.last else EventPage(after, (), after)
        return happened

    async def _page(self, after: int) -> EventPage:
        return await self._ground.store.read(lambda tx: read_page(tx, after))

    async def _follow(self, visit: Visit, page: EventPage, reporting: Reporting) -> CopyCache:
        """Move the files to their target places after some events. Return the state that was read."""
        events = page.events
        if any(event.action is Action.SPACE_IMPORTED for event in events):
            await self._stand_all(visit, reporting)  # imported messages come after the events that mention them
        messages = touched(events)
        for scope in {event.scope for event in events if event.action is Action.MESSAGE_SWEPT}:
            if scope is not None and self._ground.layout is Layout.DIALOGUE:
                messages += await self._swept_in(scope)
        shown = await self._stand(visit, messages, page.stands)
        if any(event.action is Action.MESSAGES_PRUNED for event in events):
            await self._discard_pruned(visit)
        return shown

    async def _tell(self, visit: Visit, events: Sequence[Event], shown: CopyCache) -> bool:
        """Append the new lines to the manifest. Return False if a foreign program has it locked."""
        new = [event for event in events if event.position > visit.manifest_position]
        return not new or await visit.append(await lines_of(self._ground, visit, new, shown), new[-1].position)

    async def _stand(
        self, visit: Visit, messages: Sequence[MessageId], stands: Stands = NOTHING, *, is_missing: bool = False
    ) -> CopyCache:
        """Move the files of messages to their target places. `stands` has the targets that are known already."""
        distinct = list(dict.fromkeys(messages))
        shown = CopyCache()
        for start in range(0, len(distinct), PAGE):
            some = distinct[start : start + PAGE]
            unseen = [one for one in some if one not in stands]
            wanted = [one for message_id in some for one in stands.get(message_id, ())]
            wanted += await read_targets(self._ground, unseen) if unseen else ()
            sheets = [
                sheet for one in wanted if (sheet := await self._sheet(visit, one, shown, is_missing)) is not None
            ]
            if sheets:
                await visit.bring(sheets)
        return shown

    async def _sheet(self, visit: Visit, wanted: CopyTarget, shown: CopyCache, is_missing: bool) -> WantedFile | None:
        """Return the target of a copy; None if its file is there already, or if it should have none."""
        message = wanted.message
        shown.add(wanted)
        is_new = wanted.document is not None
        copies = [] if is_new else [one for one in await visit.copies(message.id) if one.agent == wanted.agent]
        known = next(iter(copies), None)
        shelf = wanted.shelf or (Shelf.ARCHIVE if known is not None else None)
        if known is not None and (known.spot.shelf, shelf) == (Shelf.SWEPT, Shelf.ARCHIVE):
            shelf = Shelf.SWEPT  # files that others have moved there count as archived
        stands_swept = known is not None and known.spot.shelf is Shelf.SWEPT
        if shelf is Shelf.SWEPT and not stands_swept and not is_folder_name(message.scope or ""):
            shelf = Shelf.ARCHIVE  # a foreign scope need not be a valid folder name
        is_right = bool(copies) and all(one.spot.shelf is shelf for one in copies)
        if shelf is None or (is_right and not is_missing):
            return None
        number = max((delivery.number for delivery in wanted.copies), default=0)
        copy = shown.copy(
            wanted, await copy_of(visit, message, wanted.agent, known, wanted.is_only, wanted.task, number)
        )
        name = known.spot.name if known is not None else file_name(self._ground.layout, copy)
        scope = known.spot.scope if known is not None and known.spot.scope else message.scope
        spot = await spot_of(visit, self._ground.layout, shelf, wanted.agent, name, scope)
        is_ours = known.is_ours if known is not None else not is_foreign(message)
        stands = KnownFile(copy.file_id, message.id, wanted.agent, spot, is_ours)
        told = message
        if self._ground.layout is Layout.MAILBOX and has_files(message.parts):
            told = message._replace(parts=await self._with_paths(visit, message, spot.owner, copy.file_id))
        document = wanted.document or encode(message)
        return WantedFile(stands, written(self._ground.layout, told, copy, document), is_new)

    async def _with_paths(self, visit: Visit, message: Message, owner: str, file_id: str) -> tuple[Part, ...]:
        """Return the parts of a message, each file with the path of a snapshot that its reader can open."""
        attachments = self._ground.attachments
        parts: list[Part] = []
        for part in message.parts:
            path = None
            if isinstance(part, FilePart) and attachments is not None:
                try:
                    path = await visit.keep_file(owner, file_id, part.name, await attachments.content(part))
                except BlobMissing:
                    path = None  # only the sender's own path is left
            parts.append(part._replace(path=path) if isinstance(part, FilePart) and path is not None else part)
        return tuple(parts)

    async def _swept_in(self, scope: Scope) -> Sequence[MessageId]:
        async def operation(tx: Transaction) -> Sequence[MessageId]:
            messages = await tx.messages.find(MessageFilter(scope=scope), ALL_MESSAGES)
            return [message.id for message in messages if await tx.messages.is_swept(message.id)]

        return await self._ground.store.read(operation, is_long=True)

    async def _stand_all(self, visit: Visit, reporting: Reporting) -> None:
        """Write the files of every journalled message that has none, with its lines in the manifest. The lines come
        first: a pass that was killed in between finds the same messages without files again."""
        strange: dict[MessageId, None] = {}
        after = 0
        while events := await self._ground.store.read(lambda tx, after=after: tx.journal.read(after, PAGE)):
            after = events[-1].position
            for message_id in {event.message_id for event in events if event.message_id is not None}:
                if message_id not in strange and not await visit.copies(message_id):
                    strange[message_id] = None
        if self._ground.layout is Layout.DIALOGUE:
            await self._tell_again(visit, strange)
        messages = list(strange)
        for start in range(0, len(messages), PAGE):
            if start:
                reporting.at(start, len(messages))
            await self._stand(visit, messages[start : start + PAGE])

    async def _tell_again(self, visit: Visit, strange: Collection[MessageId]) -> None:
        after = 0
        told = visit.manifest_position
        while events := await self._ground.store.read(lambda tx, after=after: tx.journal.read(after, PAGE)):
            after = events[-1].position
            old = [event for event in events if event.message_id in strange and event.position <= told]
            await visit.append(await lines_of(self._ground, visit, old, CopyCache()), told)

    async def _discard_pruned(self, visit: Visit) -> None:
        after = ""
        while page := await visit.messages(after, PAGE):
            after = page[-1]
            gone = await self._ground.store.read(lambda tx, page=page: _gone(tx, page), is_long=True)
            files = [known for message_id in gone for known in await visit.copies(message_id)]
            if files:
                await visit.discard(files)


async def _gone(tx: Transaction, messages: Sequence[MessageId]) -> Sequence[MessageId]:
    return [one for one in messages if await tx.messages.get(one) is None and await tx.pruned.has(one)]
