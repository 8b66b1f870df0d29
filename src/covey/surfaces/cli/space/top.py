"""The verb `top`: the space live on a terminal. Keys select agents, questions and tasks, and open their threads."""

import os
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from covey.core.errors import Invalid, NotFound
from covey.core.ledger.message import Message
from covey.core.names import AgentName, MessageId
from covey.ports.ledger import MessageFilter
from covey.services.space import Services
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.live import run_live
from covey.surfaces.cli.live_page import Key, live_page
from covey.surfaces.cli.space.status_screen import (
    ScreenRow,
    StatusReader,
    Target,
    flat_rows,
    head_of,
    section,
    sections_of,
)
from covey.surfaces.cli.terminal.layout import Line, Piece, cut
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.terminal.screen import Canvas
from covey.surfaces.cli.terminal.text import wrapped
from covey.surfaces.cli.times import age, parse_span
from covey.surfaces.cli.views.messages import extras, headline

BODY_LINES: Final = 6
"""Maximum number of lines of a message's body. `covey thread` shows the whole."""
MOST_MAIL: Final = 100
MOST_SENT: Final = 20
MOST_TEXTS: Final = 200
"""Maximum number of questions, and of tasks, that are shown with their texts."""
MARGIN: Final = 2
"""The width of the mark of the selected row."""


def _top_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--for", dest="span", metavar="SPAN", help="end after 30s, 10m, 2h")


def _run_top(call: Call) -> int:
    if not call.output.is_for_a_person or os.environ.get("TERM", "dumb") == "dumb":
        raise Invalid("terminal", None, "`covey top` draws on one; `covey status --watch` writes lines or JSON")
    seconds = parse_span(call.options.span).total_seconds() if call.options.span else None
    store = str(call.url)
    run_live(call, lambda services: _show(services, call.output, store, seconds))
    return DONE


TOP: Final = Verb(
    arguments=_top_arguments,
    run=_run_top,
    description="""\
Show the whole space live, as `covey status --watch` does, and open its parts by keys. Enter on an agent lists its
waiting mail and the messages that it sent last; Enter on a question, a task, a child or a message opens its thread, the
newest message last. Nothing is changed, and no mail is marked as seen. `covey top` needs a terminal.

keys:
  ↑ ↓ or k j        select the row above or below; in a thread, scroll
  Enter             open the selected row
  Esc, Backspace    go back
  q, Ctrl-C         end""",
    examples="""\
examples:
  covey top
  covey top --for 10m""",
)


async def _show(services: Services, output: Output, store: str, seconds: float | None) -> None:
    pages = TopPages(services, store)

    def paint(canvas: Canvas) -> None:
        canvas.draw(pages.lines(services.clock.now(), canvas.room, canvas.styles), pages.hint)

    await live_page(services, output, pages.look, paint, lambda _: True, seconds, pages.press)


DrawRows = Callable[[datetime, int, Mapping[str, str]], Sequence[ScreenRow]]
"""Draws rows for a time, a width and styles."""


class TopPage:
    """A page of rows: one of them is selected, or the page scrolls if none can be."""

    def __init__(self, read: Callable[[], Awaitable[DrawRows]], *, begins_at_end: bool = False) -> None:
        self._read = read
        self._draw: DrawRows = lambda _now, _width, _styles: ()
        self._offset: int | None = None if begins_at_end else 0
        """The first visible line; None for the end of the page."""
        self._targets: Sequence[Target] = ()
        self._most = 0
        """The largest offset, as of the last drawing."""
        self.selected: Target | None = None

    @property
    def can_scroll(self) -> bool:
        return not self._targets

    async def look(self) -> None:
        self._draw = await self._read()

    def move(self, step: int) -> None:
        """Select the next or the previous row, or scroll by a line."""
        if self.can_scroll:
            now = self._most if self._offset is None else self._offset
            after = max(0, min(self._most, now + step))
            self._offset = None if after == self._most and self._offset is None else after
        else:
            place = self._targets.index(self.selected) if self.selected in self._targets else -step
            self.selected = self._targets[max(0, min(len(self._targets) - 1, place + step))]

    def lines(self, now: datetime, size: tuple[int, int], styles: Mapping[str, str]) -> Sequence[Line]:
        """Return the visible lines. The selected row is always among them."""
        width, height = size
        rows = self._draw(now, width - MARGIN, styles)
        self._targets = list(dict.fromkeys(row.target for row in rows if row.target is not None))
        if self._targets and self.selected not in self._targets:
            self.selected = self._targets[0]
        lines: list[Line] = []
        first = last = 0
        for row in rows:
            is_selected = row.target is not None and row.target == self.selected
            if is_selected and not last:
                first, last = len(lines), len(lines) + len(row.lines)
            for n, line in enumerate(row.lines):
                mark = "› " if is_selected and n == 0 else "  "
                shown = [(text, f"{style} reverse".strip()) for text, style in line] if is_selected else line
                lines.append(cut([(mark, "bold"), *shown], width))
        self._most = max(0, len(lines) - height)
        offset = self._most if self._offset is None else min(self._offset, self._most)
        if last:
            is_top = self.selected == self._targets[0]  # shows the head of the page too
            offset = max(min(offset, 0 if is_top else first), last - height)
        if self._offset is not None:
            self._offset = offset
        return lines[offset : offset + height]


class TopPages:
    """The open pages, the last one visible."""

    def __init__(self, services: Services, store: str) -> None:
        self._services = services
        self._reader = StatusReader(services, store)
        self._stack = [TopPage(self._overview)]

    @property
    def hint(self) -> str:
        ways = "↑↓ scroll" if self._stack[-1].can_scroll else "↑↓ select · Enter opens"
        return f"{ways}{' · Esc goes back' if len(self._stack) > 1 else ''} · q ends it"

    async def look(self) -> None:
        """Read the visible page again."""
        await self._stack[-1].look()

    async def press(self, key: Key) -> None:
        page = self._stack[-1]
        if key is Key.UP:
            page.move(-1)
        elif key is Key.DOWN:
            page.move(1)
        elif key is Key.OPEN and page.selected is not None and not page.can_scroll:
            opened = self._page_of(page.selected)
            await opened.look()
            self._stack.append(opened)
        elif key is Key.BACK and len(self._stack) > 1:
            self._stack.pop()
            await self.look()

    def lines(self, now: datetime, size: tuple[int, int], styles: Mapping[str, str]) -> Sequence[Line]:
        return self._stack[-1].lines(now, size, styles)

    def _page_of(self, target: Target) -> TopPage:
        agent, message = target
        if agent is not None:
            return TopPage(lambda: self._inbox(agent))
        assert message is not None, "a target is an agent or a message"
        return TopPage(lambda: self._thread(message), begins_at_end=True)

    async def _overview(self) -> DrawRows:
        screen = await self._reader.read(MOST_TEXTS)

        def draw(now: datetime, width: int, styles: Mapping[str, str]) -> Sequence[ScreenRow]:
            return [ScreenRow(head_of(screen, now, width)), *flat_rows(sections_of(screen, now, width, styles))]

        return draw

    async def _inbox(self, agent: AgentName) -> DrawRows:
        try:
            items = await self._services.inbox.peek(agent, limit=MOST_MAIL)
        except NotFound:
            items = ()
        held = await self._services.inbox.held_tasks(items)
        sent = await self._services.dialogue.find(MessageFilter(sender=agent), MOST_SENT)

        def draw(now: datetime, width: int, styles: Mapping[str, str]) -> Sequence[ScreenRow]:
            rows = [
                (
                    [
                        (f"{agent}:{item.delivery.number}", "bold"),
                        (age(item.message.created_at, now), ""),
                        (item.message.sender.agent, ""),
                        (str(item.message.kind), styles.get(item.message.kind, "")),
                        (state := held.get(item.message.id) or str(item.state), styles.get(state, "")),
                        (item.message.text, ""),
                    ],
                    Target(message=item.message.id),
                )
                for item in items
            ]
            waiting = section(("#", "age", "from", "kind", "state", "text"), rows, width, "")
            head = f"The waiting mail of {agent}" if items else f"No mail waits for {agent}."
            pages = [waiting] if items else []
            if sent:
                pages.append(section(("sent to", "age", "kind", "text"), _sent(sent, now, styles), width, ""))
            return [ScreenRow([[(head, "bold")]]), *flat_rows(pages)]

        return draw

    async def _thread(self, message_id: MessageId) -> DrawRows:
        try:
            messages = await self._services.dialogue.thread(message_id)
        except NotFound:
            messages = ()

        def draw(now: datetime, width: int, _styles: Mapping[str, str]) -> Sequence[ScreenRow]:
            if not messages:
                return [ScreenRow([[("The messages of this thread are not in the space any more.", "dim")]])]
            return [ScreenRow(_message_lines(message, now, width)) for message in messages]

        return draw


def _sent(
    messages: Sequence[Message], now: datetime, styles: Mapping[str, str]
) -> Sequence[tuple[Sequence[Piece], Target]]:
    """Return rows for messages that an agent sent, the newest first."""
    return [
        (
            [
                (", ".join(address.value for address in message.to), "bold"),
                (age(message.created_at, now), ""),
                (str(message.kind), styles.get(message.kind, "")),
                (message.text, ""),
            ],
            Target(message=message.id),
        )
        for message in reversed(messages)
    ]


def _message_lines(message: Message, now: datetime, width: int) -> Sequence[Line]:
    """Return a message: its headline, the beginning of its body, and its other parts."""
    indent = "  "
    room = max(1, width - len(indent))
    body = wrapped(message.text, room, BODY_LINES) if message.text.strip() else ()
    return [headline(message, now), *([(f"{indent}{line}", "")] for line in (*body, *extras(message))), ()]
