"""A program in the space that the doctor examines."""

from datetime import timedelta

from covey.core.coroutine import finish
from covey.core.directory.session import SessionKind
from covey.core.identity import Identity
from covey.core.names import AgentName
from covey.engines import connect_inline, locate
from covey.services.directory.directory import JoinRequest
from covey.services.space import Services
from tests.surfaces.doctor.patient import Patient

A_WHILE = timedelta(minutes=10)


class Inside:
    """Actions of a program in the space, in this process."""

    def __init__(self, patient: Patient) -> None:
        self._ports = connect_inline(locate(f"sqlite:{patient.store}"), [])
        self.services = Services(self._ports)

    def join(self, name: str, lease: timedelta = A_WHILE) -> Identity:
        """Join with a session that stays live by heartbeats."""
        wish = JoinRequest(AgentName(name), kind=SessionKind.LEASED, lease=lease)
        return finish(self.services.directory.join(wish)).identity

    def show(self, actor: Identity, lease: timedelta = A_WHILE) -> None:
        """Offer all mail of the actor to a model."""
        assert finish(self.services.offers.offer(actor, "turn 1", lease=lease)) is not None

    def close(self) -> None:
        finish(self._ports.close())
