"""Moves of mail: sending, answering, asking, settling and withdrawing."""

from collections.abc import Sequence
from datetime import timedelta

from hypothesis import strategies as st

from covey.core.identity import EVERYONE, Address, Identity, parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import AgentName, MessageId, Scope, SessionId, Subject
from covey.services.mail.recipients import SendPolicy
from tests.properties.draws import (
    EARLY,
    NAMES,
    STRANGER,
    Whom,
    kinds,
    maybe_expiry,
    maybe_scope,
    maybe_subject,
    policies,
    recipients,
    seldom,
    which,
)
from tests.properties.moves import move
from tests.properties.twins import THE_OPERATOR, Twins


class MailMoves(Twins):
    @move(
        4,
        who=which,
        kind=kinds,
        to=recipients,
        expects_reply=st.booleans(),
        scope=maybe_scope,
        subject=maybe_subject,
        expires_in=maybe_expiry,
        policy=policies,
        process=st.integers(0, 2),
    )
    def send(
        self,
        who: int,
        kind: Kind,
        to: Sequence[Whom],
        expects_reply: bool,
        scope: Scope | None,
        subject: Subject | None,
        expires_in: timedelta | None,
        policy: SendPolicy,
        process: int,
    ) -> None:
        draft = self._draft(kind, to, expires_in)._replace(
            expects_reply=expects_reply and kind is Kind.REQUEST, scope=scope, subject=subject
        )
        self._send(draft, self.actor(who), policy, process)

    @move(6, who=which, to=recipients, kind=st.sampled_from((Kind.NOTIFY, Kind.REQUEST)), scope=maybe_scope)
    def send_plainly(self, who: int, to: Sequence[Whom], kind: Kind, scope: Scope | None) -> None:
        """Send in the usual way: by the default policy, and with a reply expected for every request."""
        draft = self._draft(kind, to, None)._replace(expects_reply=kind is Kind.REQUEST, scope=scope)
        self._send(draft, self.actor(who), SendPolicy())

    @move(
        3,
        who=which,
        message=which,
        kind=st.sampled_from((Kind.RESPONSE, Kind.RESPONSE, Kind.REQUEST, Kind.UPDATE, Kind.NOTIFY)),
        to=st.sampled_from(([], [], [])) | recipients,
        policy=policies,
        stranger=seldom,
    )
    def reply(self, who: int, message: int, kind: Kind, to: Sequence[Whom], policy: SendPolicy, stranger: bool) -> None:
        """Answer a message. A request as an answer is a question back."""
        actor = self.actor(who) if stranger else self.recipient(message, who)
        draft = self._draft(kind, to, None)._replace(
            in_reply_to=self.message(message), expects_reply=kind is Kind.REQUEST
        )
        self._send(draft, actor, policy)

    @move(4, ticket=which, policy=policies, by_operator=seldom, asks_back=seldom)
    def answer_a_debt(self, ticket: int, policy: SendPolicy, by_operator: bool, asks_back: bool) -> None:
        """Let a debtor answer, or ask a question back first."""
        request, _, debtor = self.pick(self.tickets, ticket).partition("@")
        kind = Kind.REQUEST if asks_back else Kind.RESPONSE
        draft = self._draft(kind, (), None)._replace(in_reply_to=MessageId(request), expects_reply=asks_back)
        self._send(draft, THE_OPERATOR if by_operator else Identity(AgentName(debtor)), policy)

    @move(1, who=which, early=st.sampled_from(EARLY), kind=st.sampled_from((Kind.NOTIFY, Kind.REQUEST)))
    def send_ahead(self, who: int, early: SessionId, kind: Kind) -> None:
        """Write to a session that has not joined yet."""
        draft = self._draft(kind, (), None)._replace(to=(parse_address(early),), expects_reply=kind is Kind.REQUEST)
        self._send(draft, self.actor(who), SendPolicy(may_await_session=True))

    @move(1, who=which, message=which, kind=kinds, to=recipients, policy=policies)
    def relay(self, who: int, message: int, kind: Kind, to: Sequence[Whom], policy: SendPolicy) -> None:
        self._send(self._draft(kind, to, None)._replace(relaying=self.message(message)), self.actor(who), policy)

    @move(1, index=which, with_other_text=seldom)
    def send_again(self, index: int, with_other_text: bool) -> None:
        """Send the same id again.

        That changes nothing, but is refused if the content differs or the message was pruned.
        """
        draft, actor, policy = self.pick(self.sent, index)
        if with_other_text:
            draft = draft._replace(parts=(TextPart("something else"),))
        receipt = self.both(lambda services: services.mail.send(draft, actor, policy))
        assert (receipt is None) == (with_other_text or draft.id not in self.messages)

    @move(1, who=which, to=recipients, policy=policies, scope=maybe_scope)
    def ask(self, who: int, to: Sequence[Whom], policy: SendPolicy, scope: Scope | None) -> None:
        """Ask with a timeout of zero."""
        draft = self._draft(Kind.REQUEST, to, None)._replace(expects_reply=True, scope=scope)
        self.both(lambda services: services.asks.ask(draft, self.actor(who), policy, 0))

    @move(2, who=which, ticket=which, as_asker=st.booleans())
    def resume(self, who: int, ticket: int, as_asker: bool) -> None:
        chosen = self.pick(self.tickets, ticket)
        actor = self.actor(who)
        if as_asker:
            known = self.both(lambda services: services.dialogue.ticket(chosen))
            assert known is not None
            actor = Identity(known.asker, known.asker_session)
        self.both(lambda services: services.asks.resume(chosen, actor, 0))

    @move(1, who=which, message=which, stranger=seldom)
    def settle(self, who: int, message: int, stranger: bool) -> None:
        actor = self.actor(who) if stranger else self.recipient(message, who)
        self.both(lambda services: services.mail.settle(self.message(message), actor))

    @move(1, message=which, stranger=seldom, who=which)
    def withdraw(self, message: int, stranger: bool, who: int) -> None:
        """Withdraw a message, in most cases as its sender."""
        known = self.both(lambda services: services.mail.message(self.message(message)))
        assert known is not None
        actor = self.actor(who) if stranger else known.sender
        self.both(lambda services: services.mail.withdraw(known.id, actor))

    @move(1, message=which, agent=which, state=st.sampled_from(DeliveryState))
    def look(self, message: int, agent: int, state: DeliveryState) -> None:
        """Read without changing anything. The checks after each move show that nothing changed."""
        self.both(lambda services: services.mail.until(self.message(message), state, 0))
        self.both(lambda services: services.inbox.peek(NAMES[agent % len(NAMES)]))

    def _draft(self, kind: Kind, to: Sequence[Whom], expires_in: timedelta | None) -> Draft:
        return Draft(
            kind,
            tuple(self._address(whom) for whom in to),
            (TextPart(f"text {len(self.messages)}"),),
            expires_at=None if expires_in is None else self.clock.now() + expires_in,
        )

    def _address(self, whom: Whom) -> Address:
        if whom.how == "everyone":
            return EVERYONE
        if whom.how == "stranger":
            return parse_address(STRANGER)
        if whom.how == "early":
            return parse_address(EARLY[whom.pick % len(EARLY)])
        if whom.how == "name" or not self.sessions:
            return parse_address(NAMES[whom.pick % len(NAMES)])
        session = self.pick(self.sessions, whom.pick)
        return parse_address(session.id if whom.how == "session" else str(session.key))

    def _send(self, draft: Draft, actor: Identity, policy: SendPolicy, process: int = 0) -> None:
        receipt = self.both(lambda services: services.mail.send(draft, actor, policy), process)
        if receipt is not None:
            self.sent.append((draft._replace(id=receipt.message_id), actor, policy))
