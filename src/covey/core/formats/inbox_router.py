"""The inbox router: in-memory buffers of the messages for each goal, until its runtime drains them at the next turn.

A buffer holds 64 messages and evicts the oldest. A message for an unregistered goal waits in a new buffer, so that an
agent sees messages that were sent right after its spawn.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from covey.core.errors import Rejected
from covey.core.formats.peers import InboxMessage, parse_inbox_message, parse_inbox_subject
from covey.core.ids import SessionId, parse_session_id
from covey.core.limits import PEERS_INBOX_CAPACITY

T = TypeVar("T")
Say = Callable[[str], None]
"""A sink for log lines."""

MAX_UNREGISTERED: Final = 1024
"""The number of unregistered goals that may have a buffer. Beyond it, the oldest buffer is dropped."""


class InboxBuffer(Generic[T]):
    """The waiting messages of one goal, oldest first."""

    def __init__(self, goal: SessionId, warn: Say, limit: int = PEERS_INBOX_CAPACITY) -> None:
        self.goal = goal
        self._warn = warn
        self._limit = limit
        self._waiting: deque[T] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def push(self, message: T) -> None:
        """Add a message. If the buffer is full, evict the oldest message with a warning."""
        if len(self._waiting) == self._limit:
            self._waiting.popleft()
            self._warn(f"the buffer of goal {self.goal} held {self._limit} messages: the oldest was evicted")
        self._waiting.append(message)

    def drain(self) -> Sequence[T]:
        """Remove and return all messages."""
        drained = tuple(self._waiting)
        self._waiting.clear()
        return drained


class Buffers(Generic[T]):
    """A buffer for each goal, registered or not."""

    def __init__(self, warn: Say) -> None:
        self._warn = warn
        self._registered: dict[SessionId, InboxBuffer[T]] = {}
        self._unregistered: dict[SessionId, InboxBuffer[T]] = {}

    @property
    def unregistered(self) -> Sequence[SessionId]:
        """The unregistered goals that have a buffer."""
        return tuple(self._unregistered)

    def register(self, goal: SessionId | str) -> InboxBuffer[T]:
        """Return the goal's buffer, with the messages that came before this call. Registering again changes
        nothing."""
        goal = parse_session_id(goal)
        if goal not in self._registered:
            early = self._unregistered.pop(goal, None)
            self._registered[goal] = InboxBuffer(goal, self._warn) if early is None else early
        return self._registered[goal]

    def forget(self, goal: SessionId | str) -> None:
        """Drop the goal's buffer with its messages."""
        goal = parse_session_id(goal)
        self._registered.pop(goal, None)
        self._unregistered.pop(goal, None)

    def put(self, goal: SessionId, message: T) -> None:
        """Add a message for a goal."""
        buffer = self._registered.get(goal, self._unregistered.get(goal))
        if buffer is None:
            if len(self._unregistered) == MAX_UNREGISTERED:
                oldest = next(iter(self._unregistered))
                self._warn(f"{MAX_UNREGISTERED} unregistered goals have mail: that of {oldest} is dropped")
                del self._unregistered[oldest]
            buffer = self._unregistered[goal] = InboxBuffer(goal, self._warn)
        buffer.push(message)


class InboxRouter(Buffers[InboxMessage]):
    """Buffers that are filled from the wire: pass every message on agent.inbox.> to `route`."""

    def __init__(self, warn: Say, debug: Say) -> None:
        super().__init__(warn)
        self._debug = debug

    def route(self, subject: str, payload: bytes) -> None:
        """File a message by its subject. A malformed subject or payload is dropped with a debug line."""
        try:
            goal, message = parse_inbox_subject(subject), parse_inbox_message(payload)
        except Rejected as error:
            self._debug(f"dropped a message on {subject[:80]}: {error.message}")
            return
        self.put(goal, message)
