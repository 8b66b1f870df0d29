"""Stories for pruning: finished dialogues and open ones."""

from collections.abc import Sequence
from datetime import timedelta

from covey.adapters.memory import MemoryPages
from covey.core.identity import Identity, parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action, Event
from covey.core.ledger.message import FilePart, Kind, Part, TextPart
from covey.core.ledger.offer import EvidenceGrade
from covey.core.names import AgentName, MessageId, Scope
from covey.ports.store import Store
from covey.services.care.prune import PruneResult
from covey.services.care.retention import PruneRequest, Survey
from covey.services.directory.directory import JoinRequest
from covey.services.mail.recipients import SendPolicy
from covey.testing.fakes import HandClock
from tests.properties.world import World, finish

ANN, BOB, OPS = AgentName("ann"), AgentName("bob"), AgentName("ops")
DAY = 86_400.0


class Story:
    """Ann asks, bob answers, ops prunes."""

    def __init__(self, store: Store) -> None:
        self.clock = HandClock()
        self.world = World(store, self.clock)
        self.services = self.world.processes[0].services
        self.blobs = self.world.blobs
        self.ann = finish(self.services.directory.join(JoinRequest(ANN))).identity
        self.bob = finish(self.services.directory.join(JoinRequest(BOB))).identity

    def send(
        self, text: str, *, scope: str | None = None, request: bool = False, files: Sequence[str] = ()
    ) -> MessageId:
        """Let ann write to bob."""
        parts: tuple[Part, ...] = (TextPart(text), *(FilePart(text, digest, 1) for digest in files))
        kind = Kind.REQUEST if request else Kind.NOTIFY
        draft = Draft(kind, (parse_address(BOB),), parts, scope=Scope(scope) if scope else None, expects_reply=request)
        return finish(self.services.mail.send(draft, self.ann, SendPolicy())).message_id

    def reply(self, to: MessageId, text: str = "yes", scope: str | None = None) -> MessageId:
        """Let bob answer."""
        draft = Draft(Kind.RESPONSE, (), (TextPart(text),), in_reply_to=to, scope=Scope(scope) if scope else None)
        return finish(self.services.mail.send(draft, self.bob, SendPolicy())).message_id

    def show(self, who: Identity) -> None:
        """Show the pending messages, with evidence."""
        showing = finish(self.services.offers.offer(who, "turn"))
        if showing is not None:
            finish(self.services.offers.confirm(showing.offer.id, who, EvidenceGrade.WITNESSED, "a test"))

    def close(self, request: MessageId) -> MessageId:
        """Close a question: it is shown and answered, the answer is shown, and the question is archived."""
        self.show(self.bob)
        answer = self.reply(request)
        self.show(self.ann)
        finish(self.services.dialogue.archive(request, self.bob))
        return answer

    def dialogue(self, scope: str | None, text: str = "well?") -> MessageId:
        """Run a whole dialogue."""
        request = self.send(text, scope=scope, request=True)
        self.close(request)
        return request

    def prune(self, days: float = 1, scope: str | None = None, *, unscoped: bool = False) -> PruneResult:
        return self.prune_as(self.wanted(days, scope, unscoped))

    def prune_as(self, wanted: PruneRequest) -> PruneResult:
        prune = self.services.prune(self.blobs, MemoryPages())
        return finish(prune.prune(wanted, Identity(OPS), lambda _done, _of: None))

    def survey(self, wanted: PruneRequest) -> Survey:
        return finish(self.services.prune(self.blobs, MemoryPages()).survey(wanted))

    def wanted(self, days: float = 1, scope: str | None = None, unscoped: bool = False) -> PruneRequest:
        return PruneRequest(self.clock.now() - timedelta(days=days), Scope(scope) if scope else None, unscoped)

    def is_there(self, message_id: MessageId) -> bool:
        return finish(self.world.store.read(lambda tx: tx.messages.get(message_id))) is not None

    def state(self, message_id: MessageId) -> DeliveryState:
        return finish(self.services.mail.receipt(message_id)).deliveries[0].state

    def tombstones(self) -> list[Event]:
        events = finish(self.services.history.read(limit=100_000))
        return [event for event in events if event.action is Action.MESSAGES_PRUNED]

    def audit(self) -> list[str]:
        return [str(fault) for fault in finish(self.services.audit.check())]
