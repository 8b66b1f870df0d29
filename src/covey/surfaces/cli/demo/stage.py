"""The stage: follows the journal of the space and shows what happens, to a person or to a program."""

from collections.abc import Callable

from covey.core.event import Action, Event
from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.post import Outgoing, Posted
from covey.surfaces.cli.demo.transcript import Line, Transcript, heading
from covey.surfaces.cli.events import event_document
from covey.surfaces.cli.output import Output
from covey.surfaces.python.space import Space


class Stage:
    def __init__(self, space: Space, output: Output) -> None:
        self._space = space
        self._output = output
        self._events = space.journal(follow=True)
        self._transcript = Transcript()
        self.messages: list[MessageId] = []
        """Every message so far, in order."""
        self.events = 0
        """How many there were."""
        self._position = 0
        self._posted: dict[str, Outgoing] = {}

    def begin(self, title: str, scope: str | None) -> None:
        """Begin an act."""
        self.tell("act", title=title, scope=scope)
        self.show((("", ""),))
        self.show(heading(title))

    def started(self, role: str, pid: int) -> None:
        """A process has been started; its session is still to come."""
        self._transcript.processes[role] = pid
        self.tell("started", agent=role, pid=pid)

    def killed(self, role: str, pid: int, presence: str, debt: str) -> None:
        """A process has been killed, and this is what others see of it."""
        self.tell("killed", agent=role, pid=pid, presence=presence, debt=debt)
        self.show(self._transcript.killed(role, pid, presence, debt))

    def asked(self, conversation: str, text: str) -> None:
        """A person says something in a conversation."""
        self.tell("asked", conversation=conversation, text=text)
        self.show(self._transcript.in_conversation(conversation, "says", text))

    def _read(self, conversation: str, text: str) -> None:
        self.tell("posted", conversation=conversation, text=text)
        self.show(self._transcript.in_conversation(conversation, "reads", text))

    async def post(self, outgoing: Outgoing) -> Posted:
        """Take what is posted in a conversation: this is a channel. It is shown when the journal says so."""
        self._posted[outgoing.post.id] = outgoing
        return Posted()

    async def until(self, found: Callable[[Event], bool]) -> Event:
        """Show what happens, up to the event that is waited for."""
        while True:
            event = await anext(self._events)
            await self._show(event)
            if found(event):
                return event

    async def rest(self) -> None:
        """Show what has happened up to now."""
        last = await self._space.services.history.last()
        if self._position < last:
            await self.until(lambda event: event.position >= last)

    def tell(self, what: str, **details: Json) -> None:
        """Tell a program what happened beside the journal."""
        if self._output.as_json:
            self._output.json({"event": what, **details})
            self._output.flush()

    def show(self, line: Line) -> None:
        """Show a person one line."""
        if self._output.as_json:
            return
        if self._output.is_for_a_person:
            from covey.surfaces.cli.screen import STYLES

            line = [(text, STYLES.get(style, style)) for text, style in line]
        self._output.pieces(*line)
        self._output.flush()

    async def _show(self, event: Event) -> None:
        self.events += 1
        self._position = event.position
        self.tell("journal", **event_document(event))
        if event.action is Action.MESSAGE_SENT and event.message_id is not None:
            self.messages.append(event.message_id)
            self.show(self._transcript.said(await self._space.services.mail.message(event.message_id)))
        if event.action is Action.POST_MOVED and (outgoing := self._posted.get(str(event.details["post"]))):
            self._read(outgoing.post.conversation, outgoing.message.text)
        for line in self._transcript.happened(event):
            self.show(line)
