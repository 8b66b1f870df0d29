"""The negotiation: a dialogue of two sessions in one thread, reconstructed from the thread's messages.

Each round is a request and its answer. The space marks the request; its answer needs no mark, so any tool can send it.
A negotiation is its thread. The first message names the two sessions in its marks, which no sender can choose. Messages
of other agents in the thread are no part of the negotiation.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import Invalid
from covey.core.identity import Address, AddressKind, Identity
from covey.core.ledger.draft import is_back_to
from covey.core.ledger.marks import Step
from covey.core.ledger.message import Kind, Message
from covey.core.names import AgentName, MessageId

REPLY_SKIP: Final = "REPLY_SKIP"
"""The whole text of a message by which either side ends the negotiation."""

ANNOUNCE_SKIP: Final = "ANNOUNCE_SKIP"
"""The answer to the request for an announcement that announces nothing."""

ROUNDS: Final = 5
MAX_ROUNDS: Final = 100

ROUNDS_SETTING: Final = "negotiation-rounds"

REST: Final = timedelta(minutes=1)
"""The time after the last round in which the two sessions can't begin again: otherwise the limit would have no
effect."""


class NegotiationEnding(StrEnum):
    SKIPPED = "skipped"
    """One side said REPLY_SKIP."""
    LIMIT = "limit"
    """The last round was answered."""


def step_of(message: Message) -> Step | None:
    """Return the role of a message in a negotiation, from its marks; None if it has none."""
    return None if message.marks is None else message.marks.step


def is_skip(text: str, token: str = REPLY_SKIP) -> bool:
    """Tell whether a message is a token and nothing else."""
    return text.strip() == token


def ending_of(asked: Message, answer: Message, limit: int) -> NegotiationEnding | None:
    """Return the ending that the answer to a round brings, or None if the negotiation goes on. The number of the round
    is the request's, which the space set; that of the answer does not matter."""
    if is_skip(answer.text):
        return NegotiationEnding.SKIPPED
    return NegotiationEnding.LIMIT if (asked.round or 1) >= limit else None


def parse_rounds(value: object) -> int:
    """Parse the number of rounds that a negotiation may have."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_ROUNDS:
        raise Invalid("rounds", value, f"use 1 to {MAX_ROUNDS}")
    return value


class Negotiation(NamedTuple):
    first: Message
    """The first message: its sender is the asker, its recipient the target, its callback the conversation in which the
    result is announced."""
    last: Message
    """The last message of the two sides."""
    limit: int
    round: int
    open: tuple[Message, ...] = ()
    """Unanswered requests, oldest first: a round, a question back, or the request for an announcement."""
    questions: tuple[MessageId, ...] = ()
    """The questions back: their answers end no round."""
    ending: NegotiationEnding | None = None
    ended_at: datetime | None = None
    announce: Message | None = None
    """The request for an announcement."""

    def owed_by(self, one: Identity) -> Message | None:
        """Return the request that one side has to answer now."""
        return next((asked for asked in reversed(self.open) if not self._is_by(asked, one)), None)

    def awaited_by(self, one: Identity) -> Message | None:
        """Return the request of one side that has no answer yet. The request for an announcement does not count."""
        return next((asked for asked in self.open if self._is_by(asked, one) and asked is not self.announce), None)

    def asked_by(self, one: Identity) -> MessageId | None:
        """Return the last request of one side: the unanswered one, or else the one that the last message answered."""
        awaited = self.awaited_by(one)
        if awaited is not None:
            return awaited.id
        return None if self.last.kind is not Kind.RESPONSE or self._is_by(self.last, one) else self.last.in_reply_to

    def is_reply_of_debtor(self, message: Message, asked: Message) -> bool:
        """Tell whether a message is a reply to `asked`, comes from the agent that was asked or from the operator, and
        goes to the side that asked. Any other message in the thread has no effect."""
        if message.in_reply_to != asked.id or all(_is_to_another(address, asked) for address in message.to):
            return False
        return message.sender.agent == self._debtor(asked) or message.sender.is_operator

    def _debtor(self, asked: Message) -> AgentName | None:
        """Return the agent that owes the answer to a request."""
        if not self._is_asker(asked.sender):
            return self.first.sender.agent
        return self.first.marks.partner if self.first.marks is not None else None

    def _is_by(self, message: Message, one: Identity) -> bool:
        """Tell whether a message comes from the side of `one`."""
        return self._is_asker(message.sender) is self._is_asker(one)

    def _is_asker(self, one: Identity) -> bool:
        """Tell whether an identity is the side that began the negotiation. Both sides may be sessions of the same
        agent, or one may be its agent without a session, acting from a shell. Then the side that the first message is
        addressed to is not the asker."""
        asker = self.first.sender
        if one.session is not None and asker.session is not None:
            return one.session == asker.session
        return one.agent == asker.agent and one.session not in [address.value for address in self.first.to]

    def rests(self, now: datetime) -> timedelta | None:
        """Return the rest of the time in which the two can't begin again, or None."""
        if self.ending is not NegotiationEnding.LIMIT or self.ended_at is None:
            return None
        left = self.ended_at + REST - now
        return left if left > timedelta() else None


def read_negotiation(thread: Iterable[Message], limit: int, before: Negotiation | None = None) -> Negotiation | None:
    """Return the negotiation of a thread, or None if the thread has none. `before` is the negotiation up to the first
    of these messages."""
    found = before
    for message in thread:
        if found is not None:
            found = read_on(found, message)
        elif step_of(message) is Step.ROUND:
            found = Negotiation(message, message, limit, message.round or 1, (message,))
    return found


def read_on(before: Negotiation, message: Message) -> Negotiation:
    """Return the negotiation after the next message of its thread."""
    step = step_of(message)
    if step is Step.ANNOUNCE:
        return before._replace(announce=message, open=(*before.open, message))
    if step is Step.END:
        return before._replace(last=message, open=(), ending=NegotiationEnding.SKIPPED, ended_at=message.created_at)
    if step is Step.ROUND:
        count = max(before.round, message.round or 1)
        return before._replace(last=message, round=count, open=(*before.open, message))
    asked = next((one for one in before.open if before.is_reply_of_debtor(message, one)), None)
    if asked is None:
        return before
    if message.expects_reply:
        return before._replace(last=message, open=(*before.open, message), questions=(*before.questions, message.id))
    return _answered(before, asked, message) if message.kind is Kind.RESPONSE else before


def _answered(before: Negotiation, asked: Message, answer: Message) -> Negotiation:
    after = before._replace(last=answer, open=tuple(one for one in before.open if one is not asked))
    if asked is before.announce or before.ending is not None:
        return after
    ending = ending_of(asked, answer, before.limit)
    if ending is NegotiationEnding.LIMIT and asked.id in before.questions:
        ending = None
    return after if ending is None else after._replace(open=(), ending=ending, ended_at=answer.created_at)


def announce_prompt(asker: str, ending: NegotiationEnding) -> str:
    """Return the request for an announcement, which the target gets at the end."""
    why = "it had all its rounds" if ending is NegotiationEnding.LIMIT else "there is nothing to add"
    return (
        f"Your talk with {asker} is over: {why}. What should people be told of it? Your answer is posted to them as it "
        f"is. Answer {ANNOUNCE_SKIP}, and nothing else, where they need not be told."
    )


def _is_to_another(address: Address, asked: Message) -> bool:
    """Tell whether an address names an agent or a session that did not ask."""
    return address.kind in (AddressKind.AGENT, AddressKind.SESSION) and not is_back_to(address, asked)
