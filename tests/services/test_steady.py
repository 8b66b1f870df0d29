"""A process that dies in the middle of a transaction."""

from covey.adapters.memory import MemoryBlobs, MemoryLiveness, MemorySearch, MemoryStore
from covey.adapters.system.files import RootedFiles
from covey.core.address import parse_address
from covey.core.draft import Draft
from covey.core.message import Kind
from covey.core.names import AgentName
from covey.core.parts import TextPart
from covey.core.session import Holder
from covey.services.adapters import Adapters
from covey.services.directory import JoinRequest
from covey.services.recipients import SendPolicy
from covey.services.space import Services
from covey.testing.clock import HandClock
from covey.testing.ids import CountingIds
from tests.properties.world import NobodyRings, finish


class DiesOnceSeen(MemoryLiveness):
    """A machine on which whoever was looked at dies the next moment."""

    def is_held(self, holder: Holder) -> bool:
        held = super().is_held(holder)
        self.kill(holder)
        return held


def test_who_was_live_at_the_first_look_is_live_for_the_whole_transaction() -> None:
    store = MemoryStore()
    ports = Adapters(
        store,
        NobodyRings(),
        MemoryBlobs(),
        MemorySearch(store),
        DiesOnceSeen(),
        RootedFiles(()),
        HandClock(),
        CountingIds(),
    )
    space = Services(ports)
    ann, bob = (finish(space.directory.join(JoinRequest(AgentName(name)))) for name in ("ann", "bob"))
    # Both addresses mean the one session, so bob is looked at twice.
    to = (parse_address("bob"), parse_address(bob.session.id))
    finish(space.mail.send(Draft(Kind.NOTIFY, to, (TextPart("text"),)), ann.identity, SendPolicy()))
    assert finish(space.audit.check()) == []
    # Now that his death is noticed, what he leaves waits for the next.
    finish(space.upkeep.tend())
    assert finish(space.directory.join(JoinRequest(AgentName("bob")))).adopted == 1
