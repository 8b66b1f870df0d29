"""The negotiation: two sessions that go back and forth in one thread, as its messages tell it.

Nothing is kept beside the messages. Each round is a request and its answer. A request has a number and the subject of
the pair; its answer needs no mark, so any tool can give it.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple
from zlib import crc32

from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.json import Json
from covey.core.message import Kind, Message
from covey.core.names import Subject

REPLY_SKIP: Final = "REPLY_SKIP"
"""Said by either side as its whole message: the negotiation is over."""

ANNOUNCE_SKIP: Final = "ANNOUNCE_SKIP"
"""Said by who is asked what to announce: nothing."""

ROUNDS: Final = 5
MAX_ROUNDS: Final = 100

ROUNDS_SETTING: Final = "negotiation-rounds"

REST: Final = timedelta(minutes=1)
"""After the last round two sessions let each other alone for this long: otherwise the limit would be none."""

TALK: Final = "talk"
"""What the subject of a negotiation begins with."""

MARK: Final = "negotiation"
"""Where the metadata of a message says what it is to a negotiation."""


class Step(StrEnum):
    ROUND = "round"
    """A message that the other side answers."""
    END = "end"
    """REPLY_SKIP of who does not owe an answer."""
    ANNOUNCE = "announce"
    """The question what people are to be told."""


class Ending(StrEnum):
    SKIPPED = "skipped"
    """One side said REPLY_SKIP."""
    LIMIT = "limit"
    """The last round was answered."""


def marked(step: Step) -> Mapping[str, Json]:
    """Return the metadata of a message that is part of a negotiation and no round of it."""
    return {MARK: str(step)}


def step_of(message: Message) -> Step | None:
    """Return what a message is to a negotiation; None where it is nothing to one. Rounds are known by their subject and
    number alone, so that they cost no more than other messages."""
    mark = message.metadata.get(MARK)
    if mark is not None:
        return Step(mark) if isinstance(mark, str) and mark in (Step.END, Step.ANNOUNCE) else None
    is_round = message.round is not None and message.expects_reply and (message.subject or "").startswith(f"{TALK}-")
    return Step.ROUND if is_round else None


def is_skip(text: str, token: str = REPLY_SKIP) -> bool:
    """Tell whether a message is a token and nothing else."""
    return text.strip() == token


def ending_of(answer: Message, limit: int) -> Ending | None:
    """Return how the answer to a round ends the negotiation; None where it goes on."""
    if is_skip(answer.text):
        return Ending.SKIPPED
    return Ending.LIMIT if (answer.round or 1) >= limit else None


def pair_subject(one: Identity, other: Identity, what: str = TALK) -> Subject:
    """Return the subject under which what two sessions have with each other is found, from either side: their
    negotiations, or something else of that kind."""
    ends = sorted(_end(identity) for identity in (one, other))
    return Subject(f"{what}-{crc32(' '.join(ends).encode()):08x}")


def parse_rounds(value: object) -> int:
    """Return how many rounds a negotiation may have."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_ROUNDS:
        raise Invalid("rounds", value, f"use 1 to {MAX_ROUNDS}")
    return value


class Negotiation(NamedTuple):
    first: Message
    """What began it: its sender is who asked, its recipient the target, its callback where the result is announced."""
    last: Message
    """What was said last."""
    limit: int
    round: int
    open: tuple[Message, ...] = ()
    """What was asked and is not answered, oldest first: a round, a question back, or what to announce."""
    questions: tuple[MessageId, ...] = ()
    """Those that were asked back: their answers end no round."""
    ending: Ending | None = None
    ended_at: datetime | None = None
    announce: Message | None = None
    """The question what to announce."""

    def owed_by(self, one: Identity) -> Message | None:
        """Return what one side is to answer now."""
        return next((asked for asked in reversed(self.open) if not self._is_by(asked, one)), None)

    def awaited_by(self, one: Identity) -> Message | None:
        """Return what one side has asked and has no answer to."""
        return next((asked for asked in self.open if self._is_by(asked, one) and asked is not self.announce), None)

    def asked_by(self, one: Identity) -> MessageId | None:
        """Return what one side has asked last: what it has no answer to, or what was answered last of all."""
        awaited = self.awaited_by(one)
        if awaited is not None:
            return awaited.id
        return None if self.last.kind is not Kind.RESPONSE or self._is_by(self.last, one) else self.last.in_reply_to

    def _is_by(self, message: Message, one: Identity) -> bool:
        """Tell whether one of the two sides said something."""
        return self._is_asker(message.sender) is self._is_asker(one)

    def _is_asker(self, one: Identity) -> bool:
        """Tell whether somebody is the side that began it. Both may be sessions of the same agent, or a session and
        somebody who speaks for its agent from a shell: who was spoken to first is then not who spoke."""
        asker = self.first.sender
        if one.session is not None and asker.session is not None:
            return one.session == asker.session
        return one.agent == asker.agent and one.session not in [address.value for address in self.first.to]

    def rests(self, now: datetime) -> timedelta | None:
        """Return how long these two still let each other alone; None where they need not."""
        if self.ending is not Ending.LIMIT or self.ended_at is None:
            return None
        left = self.ended_at + REST - now
        return left if left > timedelta() else None


def read_negotiation(thread: Iterable[Message], limit: int, before: Negotiation | None = None) -> Negotiation | None:
    """Return the negotiation that a thread is; None where it is none. `before` is what its messages up to here were."""
    found = before
    for message in thread:
        if found is not None:
            found = read_on(found, message)
        elif step_of(message) is Step.ROUND:
            found = Negotiation(message, message, limit, message.round or 1, (message,))
    return found


def read_on(before: Negotiation, message: Message) -> Negotiation:
    """Return a negotiation after another message of its thread."""
    step = step_of(message)
    if step is Step.ANNOUNCE:
        return before._replace(announce=message, open=(*before.open, message))
    if step is Step.END:
        return before._replace(last=message, open=(), ending=Ending.SKIPPED, ended_at=message.created_at)
    asked = next((one for one in before.open if one.id == message.in_reply_to), None)
    if message.expects_reply and (step is Step.ROUND or asked is not None):
        count = max(before.round, message.round or 1)
        questions = before.questions if asked is None else (*before.questions, message.id)
        return before._replace(last=message, round=count, open=(*before.open, message), questions=questions)
    if message.kind is not Kind.RESPONSE or asked is None:
        return before
    after = before._replace(last=message, open=tuple(one for one in before.open if one is not asked))
    if asked is before.announce or before.ending is not None:
        return after
    is_last = asked.id not in before.questions and ending_of(message, before.limit) is Ending.LIMIT
    ending = Ending.SKIPPED if is_skip(message.text) else Ending.LIMIT if is_last else None
    return after if ending is None else after._replace(open=(), ending=ending, ended_at=message.created_at)


def announce_prompt(asker: str, ending: Ending) -> str:
    """Return what the target is asked at the end."""
    why = "it had all its rounds" if ending is Ending.LIMIT else "nothing is to be added"
    return (
        f"Your talk with {asker} is over: {why}. What should people be told of it? Your answer is posted to them as it "
        f"is. Answer {ANNOUNCE_SKIP}, and nothing else, where they need not be told."
    )


def _end(one: Identity) -> str:
    return one.session or one.agent
