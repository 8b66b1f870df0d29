"""Moves of the directory: joining, leaving, dying, and a clock that advances or jumps."""

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import initialize

from covey.core.directory.card import Capacity, Card
from covey.core.directory.session import Activity, SessionKind
from covey.core.identity import Identity
from covey.core.names import AgentName, Label, SessionId
from covey.services.directory.directory import JoinRequest
from tests.properties.draws import EARLY, NAMES, PIDS, capacities, cards, names, seconds, seldom, which
from tests.properties.moves import move
from tests.properties.twins import Twins


class DirectoryMoves(Twins):
    @initialize(capacity=st.none() | capacities)
    def settle_in(self, capacity: Capacity | None) -> None:
        """Start with known agents: one session of ann, two of bob, and cy, who is offline."""
        for name in NAMES:
            self.both(lambda services, name=name: services.directory.register(name, Card(), Identity(name)))
        for process, name in enumerate((NAMES[0], NAMES[1], NAMES[1])):
            self._join(JoinRequest(name, capacity=capacity), process)

    @move(1, name=names, card=cards, who=which)
    def register(self, name: AgentName, card: Card, who: int) -> None:
        self.both(lambda services: services.directory.register(name, card, self.actor(who)))

    @move(
        2,
        name=names,
        kind=st.sampled_from((SessionKind.ATTACHED, SessionKind.ATTACHED, SessionKind.CLIENT, SessionKind.LEASED)),
        session_id=st.sampled_from((*[None] * 6, *EARLY)),
        capacity=st.none() | capacities,
        card=st.none() | cards,
        nameless=seldom,
        spawned=seldom,
        process=st.integers(0, 2),
        pid=st.sampled_from(PIDS),
    )
    def join(
        self,
        name: AgentName,
        kind: SessionKind,
        session_id: SessionId | None,
        capacity: Capacity | None,
        card: Card | None,
        nameless: bool,
        spawned: bool,
        process: int,
        pid: int,
    ) -> None:
        wish = JoinRequest(
            name=None if nameless else name,
            card=card,
            kind=kind,
            session_id=session_id,
            label=Label("worker") if spawned else None,
            parent=self.sessions[-1].key if spawned and self.sessions else None,
            client_pid=pid,
            capacity=capacity,
            lease=timedelta(seconds=60),
        )
        for world in self.worlds:
            world.start_client(pid)
        self._join(wish, process)

    @move(1, who=which)
    def leave(self, who: int) -> None:
        self.both(lambda services: services.directory.leave(self.member(who)))

    @move(2, process=st.integers(0, 2))
    def kill(self, process: int) -> None:
        """Kill a process: its attached sessions are dead, and no other process has noticed yet."""
        for world in self.worlds:
            world.kill(process)

    @move(1, pid=st.sampled_from(PIDS))
    def kill_client(self, pid: int) -> None:
        for world in self.worlds:
            world.kill_client(pid)

    @move(1, who=which, activity=st.sampled_from((None, None, *Activity)))
    def show_life(self, who: int, activity: Activity | None) -> None:
        if activity is None:
            self.both(lambda services: services.directory.heartbeat(self.member(who)))
        else:
            self.both(lambda services: services.directory.set_activity(self.member(who), activity))

    @move(1)
    def tend(self) -> None:
        self.both(lambda services: services.upkeep.tend())

    @move(2, seconds=seconds)
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @move(1, seconds=seconds, back=st.booleans())
    def set_the_clock(self, seconds: int, back: bool) -> None:
        self.clock.jump(-seconds if back else seconds)

    @move(1, closed=st.sampled_from((None, None, None, True, False)), who=which)
    def look_around(self, closed: bool | None, who: int) -> None:
        """List the agents. Sometimes close the roster, or open it again."""
        self.both(lambda services: services.directory.agents())
        if closed is not None:
            self.both(lambda services: services.policies.close_roster(self.actor(who), closed=closed))

    def _join(self, wish: JoinRequest, process: int) -> None:
        joined = self.both(lambda services: services.directory.join(wish), process)
        if joined is not None:
            self.sessions.append(joined.session)
