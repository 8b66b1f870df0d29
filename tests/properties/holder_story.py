"""A story of a space in which three agents write to each other, and eve makes arbitrary calls by her token."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from covey.core.attention.pending import AttentionOptions
from covey.core.directory.card import PEERS_CAPACITY, Capacity, Card
from covey.core.directory.session import Activity, Holder, Session, SessionKind
from covey.core.errors import CoveyError
from covey.core.identity import THE_SPACE, Grade, Identity, SessionKey, Token, TokenId, parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import Callback, Kind, Part, TextPart
from covey.core.ledger.offer import EvidenceGrade, Presentation
from covey.core.ledger.outcome import Outcome, OutcomeKind
from covey.core.names import (
    OPERATOR,
    AgentName,
    DeliveryId,
    InboxId,
    Label,
    MessageId,
    OfferId,
    Scope,
    SessionId,
    Subject,
    TicketId,
    parked_inbox,
    session_inbox,
    ticket_id,
)
from covey.core.work.approval import PLAN, ApprovalName, Decision
from covey.core.work.run import RunId
from covey.core.work.task import TaskMove
from covey.ports.children import PythonChild
from covey.ports.ledger import EventFilter, MessageFilter
from covey.ports.store import Store
from covey.ports.work import RunFilter, TaskFilter
from covey.services.children.request import SpawnRequest
from covey.services.dialogue.negotiation import Whom
from covey.services.directory.clients import ClientSession
from covey.services.directory.directory import Joined, JoinRequest
from covey.services.mail.inbox import InboxFilter, InboxItem
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.testing.fakes import HandClock
from covey.testing.records import a_ticket
from tests.properties.any_call import AnyCall, Values, draw, methods
from tests.properties.holder_children import nothing, raise_child
from tests.properties.holder_work import work
from tests.properties.world import World, finish

ANN, BOB, EVE = AgentName("ann"), AgentName("bob"), AgentName("eve")
NAMES: Final = (ANN, BOB, EVE)
SCOPES: Final = (Scope("s1"), Scope("s2"))
LABEL: Final = Label("main")
CARD: Final = Card(allowed_delegates=(ANN, BOB), quota=2, command=("work",), allow_spawn=(), max_children=3)
"""The permissions that eve's owner gives her. A child acts in the name of its agent, so she may only start her own."""
KINDS: Final = (Kind.NOTIFY, Kind.REQUEST, Kind.REQUEST, Kind.UPDATE, Kind.TASK)
OWNERS: Final = frozenset({Action.TOKEN_CREATED, Action.TOKEN_REVOKED, Action.SETTING_CHANGED, Action.MESSAGES_PRUNED})
"""Actions of the operator, or of a process with access to the store."""


def leased(name: AgentName) -> JoinRequest:
    """Return the request by which a remote agent joins, which may come back to its session."""
    return JoinRequest(name, kind=SessionKind.LEASED, label=LABEL, lease=timedelta(days=1))


class HolderStory:
    """A story with a unique mark in each text, subject, data and reason that the other agents write."""

    def __init__(self, store: Store, seed: int) -> None:
        self._random = Random(seed)
        self._clock = HandClock()
        self._world = World(store, self._clock)
        self.wide = self._world.processes[0].services
        secret = finish(self.wide.identities.create_token(EVE, Identity(ANN), register=True))
        finish(self.wide.directory.register(EVE, CARD, Identity(ANN)))
        self._token = finish(self.wide.identities.by_token(secret))
        self.narrow = self._world.processes[1].services.narrowed_to(self._token)
        self._sessions = [finish(self.wide.directory.join(wish)).identity for wish in (leased(ANN), leased(BOB))]
        self._sessions.append(finish(self.narrow.directory.join(JoinRequest())).identity)
        self._calls = methods(self.narrow)
        self._marked = 0
        self._marks: dict[str, tuple[MessageId, AgentName | None]] = {}
        """Origin of each mark: a message, or the text of an agent about its own copy."""
        self._offers: list[OfferId] = []
        self.refused = self.done = 0

    def tell(self, steps: int) -> None:
        """Run `steps` steps, and check each of eve's."""
        for _ in range(steps):
            self._clock.advance(self._random.choice((0, 0, 1, 400)))
            if self._random.random() < 0.4:
                with suppress(CoveyError):
                    self._others()
            else:
                self._call()

    # ---------------------------------------------------------------------------------------- the other agents

    def _others(self) -> None:
        """Let an agent do something that the space allows."""
        who = self._random.choice(self._sessions)
        mail, message_id = self.wide.mail, self._message_id()
        doings = (
            "send",
            "send",
            "send",
            "reply",
            "settle",
            "offer",
            "withdraw",
            "archive",
            "work",
            "work",
            "work",
            "spawn",
            "spawn",
        )
        what = self._random.choice(doings)
        if what == "send":
            self._send(who, self._draft(self._random.choice(KINDS), answers=False))
        elif what == "reply":
            self._send(who, self._draft(Kind.RESPONSE, answers=True))
        elif what == "settle":
            finish(mail.settle(message_id, who, self._mark(message_id, who.agent)))
        elif what == "withdraw":
            finish(mail.withdraw(message_id, who))
        elif what == "archive":
            finish(self.wide.dialogue.archive(message_id, who))
        elif what == "work":
            if self._random.random() < 0.5:
                self._send(who, self._draft(Kind.TASK, answers=False)._replace(to=(parse_address(EVE),)))
            work(self.wide, who, self._random, self._mark)
        elif what == "spawn":
            raise_child(self.wide, who, self._pick((None, *NAMES)), self._random, self._mark)
        elif (showing := finish(self.wide.offers.offer(who, "turn"))) is not None:
            self._offers.append(showing.offer.id)
            if self._random.random() < 0.5:
                finish(self.wide.offers.confirm(showing.offer.id, who, EvidenceGrade.WITNESSED, "a response"))

    def _send(self, who: Identity, draft: Draft) -> None:
        receipt = finish(self.wide.mail.send(draft, who, SendPolicy()))
        for text in (draft.parts[0], draft.subject, draft.metadata["m"]):
            self._marks[text.text if isinstance(text, TextPart) else str(text)] = receipt.message_id, None

    def _mark(self, message_id: MessageId, agent: AgentName | None) -> str:
        """Return a unique text about an agent's copy. Without an agent, both sides of the task may know the text."""
        self._marked += 1
        mark = f"mark-{self._marked}-end"
        self._marks[mark] = message_id, agent
        return mark

    # ----------------------------------------------------------------------------------------------------- eve

    def _call(self) -> None:
        """Let eve make a call. Her claimed identity is sometimes a lie that no surface would let through."""
        call = draw(self.narrow, *self._random.choice(self._calls), self._values(), self._random)
        before = finish(self.wide.history.last())
        owned = self._owned()
        outcome = self._outcome(call)
        if not self._is_lie(call):
            self._check_nothing_leaked(call, repr(outcome))
            given = outcome.identity if isinstance(outcome, Joined | ClientSession) else outcome
            assert not isinstance(given, Identity) or given.agent == EVE, f"{call} made her another: {given}"
        for event in finish(self.wide.history.read(before, 10_000)):
            self._check_own(call, event)
        assert self._owned() == owned, f"{call} changed what is not eve's to change"

    def _outcome(self, call: AnyCall) -> object:
        try:
            result: Any = call.on(self.narrow)
            result = finish(result) if hasattr(result, "__await__") else result
        except CoveyError as error:
            self.refused += 1
            return error.message, error.details
        self.done += 1
        if call.method in ("offer", "take") and (offer := getattr(result, "offer", None)) is not None:
            self._offers.append(getattr(offer, "id", offer))
        return result

    def _is_lie(self, call: AnyCall) -> bool:
        actor = call.arguments.get("actor") or call.arguments.get("inherited")
        return actor is not None and (actor.agent, actor.grade) != (EVE, Grade.TOKEN)

    def _check_nothing_leaked(self, call: AnyCall, told: str) -> None:
        for mark, (message_id, agent) in self._marks.items():
            if mark in told and not self._is_hers(message_id, agent):
                raise AssertionError(f"{call} told {mark}, which is another's: {told}")

    def _is_hers(self, message_id: MessageId, agent: AgentName | None) -> bool:
        copies = finish(self.wide.mail.receipt(message_id)).deliveries
        is_sender = finish(self.wide.mail.message(message_id)).sender.agent == EVE
        return is_sender or any(copy.agent == EVE and agent in (None, EVE) for copy in copies)

    def _check_own(self, call: AnyCall, event: Event) -> None:
        """Fail if an event was not eve's to cause in her own name."""
        assert event.actor.agent == EVE or event.actor == THE_SPACE, f"{call} acted as another: {event}"
        if event.actor == THE_SPACE:
            return
        assert event.actor.grade is not Grade.SPACE
        assert event.action not in OWNERS, f"{call}: {event}"
        if event.action is Action.AGENT_REGISTERED:
            assert event.agent not in (ANN, BOB), f"{call} changed another's card"
        elif event.action in (Action.DELIVERY_MOVED, Action.DELIVERY_PLACED, Action.DELIVERY_ARCHIVED):
            gives_way = event.details.get("move") in ("evict", "supersede")
            assert event.agent == EVE or self._sender(event) == EVE or gives_way, f"{call} moved another's: {event}"
        elif event.action in (Action.TICKET_MOVED, Action.TICKET_PASSED, Action.TICKET_OPENED, Action.TICKET_TROUBLED):
            ticket = finish(self.wide.dialogue.ticket(TicketId(str(event.details["ticket"]))))
            assert EVE in (ticket.asker, ticket.debtor), f"{call} moved another's debt: {event}"
        elif event.action in (Action.TASK_MOVED, Action.TASK_CLAIMED, Action.TASK_RELEASED):
            is_taken_back = event.details.get("move") == TaskMove.CANCEL
            mover = self._sender(event) if is_taken_back else event.agent
            assert mover == EVE, f"{call} moved another's task: {event}"
        elif event.action is Action.MESSAGE_SENT:
            assert self._sender(event) == EVE
        elif event.action is not Action.MESSAGE_SWEPT:
            assert event.agent == EVE, f"{call}: {event}"

    def _sender(self, event: Event) -> AgentName | None:
        return None if event.message_id is None else finish(self.wide.mail.message(event.message_id)).sender.agent

    def _owned(self) -> object:
        """Return all data that only an owner changes: tokens, cards of others, and the permissions on eve's card."""
        tokens: list[Token] = [token._replace(used_at=None) for token in finish(self.wide.identities.tokens())]
        cards = {view.name: view.card for view in finish(self.wide.directory.agents()) if view.name in NAMES}
        eve = cards.pop(EVE)
        said = {"description": "", "capabilities": (), "allow_from": ("*",)}
        return tokens, cards, eve._replace(**said)

    # -------------------------------------------------------------------------------------------------- drawing

    def _message_id(self) -> MessageId:
        known = finish(self.wide.dialogue.find(MessageFilter(), 1000))
        return self._pick([m.id for m in known]) if known else MessageId("1794738090871-" + "0" * 36)

    def _task_id(self) -> MessageId:
        """Return a task if there is one, mostly one that is assigned to eve."""
        wanted = TaskFilter(agent=EVE) if self._random.random() < 0.6 else TaskFilter()
        known = finish(self.wide.tasks.find(wanted, 5))
        return self._pick([view.task.id for view in known]) if known else self._message_id()

    def _run_id(self) -> RunId:
        known = finish(self.wide.runs.find(RunFilter(), 20))
        return self._pick([view.run.id for view in known]) if known else RunId("0" * 32)

    def _spawn_wish(self) -> SpawnRequest:
        """Return a spawn request of eve; the program is on a card, or a callable."""
        cause = self._pick((None, None, self._message_id()))
        return SpawnRequest(
            "do it",
            agent=self._pick((None, None, *NAMES)),
            thread=self._pick((False, False, False, True, Callback(ANN, "c-1"))),
            relaying=cause,
            led_by=None if cause else self._message_id(),
            is_sibling=self._random.random() < 0.1,
            is_newcomer=self._random.random() < 0.1,
            python=self._pick((None, PythonChild(nothing))),
        )

    def _session(self) -> Session:
        return finish(self.wide.directory.session(SessionId(str(self._pick(self._sessions).session))))

    def _pick(self, things: Sequence[Any]) -> Any:
        return self._random.choice(things)

    def _draft(self, kind: Kind, *, answers: bool) -> Draft:
        mark = f"mark-{self._marked}"
        self._marked += 1
        whom = [parse_address(self._pick(("ann", "bob", "eve"))) for _ in range(self._pick((1, 1, 2)))]
        return Draft(
            kind,
            () if answers and self._random.random() < 0.5 else tuple(whom),
            (TextPart(f"{mark}-text-end"),),
            subject=Subject(f"{mark}-subject-end"),
            scope=self._pick((None, *SCOPES)),
            in_reply_to=self._message_id() if answers else None,
            expects_reply=kind is Kind.REQUEST and self._random.random() < 0.8,
            metadata={"m": f"{mark}-data-end"},
        )

    def _any_draft(self) -> Draft:
        draft = self._draft(self._pick(tuple(Kind)), answers=self._random.random() < 0.5)
        if self._random.random() < 0.2:
            draft = draft._replace(id=self._message_id())
        return draft._replace(relaying=self._message_id()) if self._random.random() < 0.2 else draft

    def _identity(self) -> Identity:
        """Return the caller: eve in most cases, otherwise an identity that she claims."""
        hers = self._sessions[2]._replace(grade=Grade.TOKEN)
        lies = (Identity(OPERATOR, None, Grade.TOKEN), Identity(ANN), self._sessions[1], Identity(OPERATOR))
        return self._pick((self._token, hers, hers, self._token, hers, self._pick(lies)))

    def _inbox(self) -> InboxId:
        sessions = [identity.session for identity in self._sessions if identity.session]
        return self._pick([parked_inbox(self._pick(NAMES)), session_inbox(self._pick(sessions))])

    def _values(self) -> Values:
        pick, agent = self._pick, lambda: self._pick((*NAMES, AgentName("cy")))
        scope = lambda: self._pick((None, *SCOPES))  # noqa: E731 - one of many in the table
        ticket = lambda: ticket_id(self._message_id(), self._pick(NAMES))  # noqa: E731
        copies = lambda: [DeliveryId(f"{self._message_id()}.{n}") for n in (1, 2)]  # noqa: E731
        session = lambda: SessionId(pick(self._sessions).session)  # noqa: E731
        return {
            "task_id": self._task_id,
            "why": lambda: "because",
            "words": lambda: pick(("mark", "text end", "data")),
            "timeout": lambda: 0.0,
            "waits_on": lambda: pick((None, 5.0)),
            "answered": lambda: None,  # the call reads the answered message itself
            "marks": lambda: None,  # no surface gives any
            "made_at": lambda: None,  # only the bridge says when a foreign program made something
            "new_id": lambda: None,  # only given if a wait is recorded with the message
            "seconds": lambda: 60.0,
            "what": ticket,
            "secret": lambda: "covey_" + "0" * 64,
            str: lambda: "because",
            int | None: lambda: pick((None, 0, 1)),
            tuple[Part, ...]: lambda: (TextPart("eve says so"),),
            "judge": lambda: None,
            "take": lambda: _nothing,
            TaskFilter: lambda: TaskFilter(agent=pick((None, agent())), delegator=pick((None, agent())), scope=scope()),
            ApprovalName: lambda: PLAN,
            Decision: lambda: Decision(pick((True, False)), pick(("", "because"))),
            Outcome: self._outcome_of,
            bool: lambda: pick((True, False)),
            int: lambda: pick((0, 1, 2, 3, 1000)),
            AgentName: agent,
            AgentName | None: lambda: pick((None, agent())),
            Scope: lambda: pick(SCOPES),
            Label: lambda: LABEL,
            MessageId: self._message_id,
            TicketId: ticket,
            TokenId: lambda: pick(finish(self.wide.identities.tokens())).id,
            OfferId: lambda: pick(self._offers) if self._offers else OfferId("0" * 8),
            SessionId: session,
            Session: self._session,
            Whom: self._session,
            SessionKey: lambda: self._session().key,
            Callback | None: lambda: pick((None, Callback(ANN, "c-1"))),
            RunId: self._run_id,
            RunFilter: lambda: RunFilter(agent=pick((None, agent())), parent_agent=pick((None, agent()))),
            SpawnRequest: self._spawn_wish,
            SessionId | None: lambda: pick((None, session())),
            InboxId: self._inbox,
            Collection[int]: lambda: (),
            Sequence[InboxItem]: lambda: finish(self.wide.inbox.peek(pick(NAMES))),
            Capacity: lambda: PEERS_CAPACITY,
            Collection[DeliveryId] | None: lambda: pick((None, copies())),
            Identity: self._identity,
            Draft: self._any_draft,
            SendPolicy: lambda: SendPolicy(when_unknown=pick(tuple(WhenUnknown)), closes=pick((True, False))),
            JoinRequest: self._wish,
            ClientSession: self._seated,
            Identity | None: lambda: pick((None, self._identity())),
            Holder: Holder,
            Card: self._card,
            Activity: lambda: pick(tuple(Activity)),
            DeliveryState: lambda: pick(tuple(DeliveryState)),
            EvidenceGrade: lambda: pick(tuple(EvidenceGrade)),
            Presentation: lambda: pick(tuple(Presentation)),
            timedelta: lambda: timedelta(minutes=10),
            datetime | None: lambda: pick((None, self._clock.now() - timedelta(minutes=5))),
            AttentionOptions | None: lambda: None,
            str | None: lambda: pick((None, "because")),
            EventFilter | None: lambda: pick((None, EventFilter(agent=agent(), scope=scope()))),
            MessageFilter: lambda: MessageFilter(scope=scope()),
            MessageFilter | None: lambda: pick((None, MessageFilter(sender=agent()))),
            InboxFilter | None: lambda: pick((None, InboxFilter(scope=scope()))),
        }

    def _outcome_of(self) -> Outcome:
        """Return the outcome of an ask, as if eve had waited for it.

        No surface has the outcome of another agent's ask.
        """
        tickets = [*finish(self.wide.dialogue.owed_to(EVE)), *finish(self.wide.dialogue.owed_by(EVE))]
        return Outcome(OutcomeKind.REPLIED, self._pick(tickets) if tickets else a_ticket())

    def _wish(self) -> JoinRequest:
        label = self._pick((None, LABEL))
        return JoinRequest(self._pick((None, ANN, BOB, EVE, OPERATOR)), self._pick((None, self._card())), label=label)

    def _seated(self) -> ClientSession:
        """Return a session of eve, as the program sees it that acts from it."""
        identity = self._sessions[2]
        assert identity.session is not None
        return ClientSession(finish(self.wide.directory.session(identity.session)), identity, self._pick((True, False)))

    def _card(self) -> Card:
        wider = (CARD._replace(allowed_delegates=("*",)), CARD._replace(allow_spawn=("*",)))
        return self._pick((CARD, CARD._replace(description="new"), *wider, Card(command=("sh",)), Card()))


async def _nothing() -> None:
    """Take nothing: this callback belongs to the caller."""
