"""A process that dies between any two steps of a commit on NATS.

The log decides: its records apply once on every machine.
"""

import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from covey.adapters.sqlite.care.integrity import integrity_check
from covey.core.directory.card import Card
from covey.core.identity import Identity
from covey.core.ledger.event import Action
from covey.core.names import AgentName, MessageId
from covey.engines import connect_inline, parse_store_url
from covey.ports.ledger import EventFilter
from covey.ports.store import Transaction
from covey.services.space import Services
from tests.chaos.nats_step import BEGINNING, KEEPING, SENDING, TAKING_IN, keep, send
from tests.chaos.replicas import brought_up, content
from tests.nats.servers import NatsServer, one_node
from tests.properties.world import finish

ROOT = Path(__file__).parents[2]
LIMIT_S = 30.0
ASKED = "1794700000000-00000000-0000-4000-8000-000000000001"
OTHERS = [f"1794700000000-00000000-0000-4000-8000-{n:012d}" for n in range(2, 8)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[NatsServer]:
    with one_node(tmp_path_factory.mktemp("server")) as running:
        yield running


class Space:
    """One space, seen from several machines."""

    def __init__(self, server: NatsServer, folder: Path) -> None:
        self._folder = folder
        self._place = f"{server.url}/{folder.name}"
        self.here, self.there, self.elsewhere = map(self.machine, ("here", "there", "elsewhere"))
        ports = connect_inline(parse_store_url(self.there), ())
        for name in ("ann", "bob"):
            finish(Services(ports).directory.register(AgentName(name), Card(), Identity(AgentName(name))))
        finish(ports.close())

    def machine(self, name: str) -> str:
        return f"{self._place}?cache={self._folder / name}"

    def dies(self, step: str, machine: str, message_id: str = ASKED) -> None:
        """Run a process on a machine that dies at a step."""
        words = ["-m", "tests.chaos.nats_step", step, machine, message_id]
        ended = subprocess.run([sys.executable, *words], cwd=ROOT, timeout=LIMIT_S, capture_output=True, check=False)
        assert ended.returncode == -signal.SIGKILL, f"it was not killed: {ended}"

    def copies(self, machine: str, message_id: str = ASKED) -> int:
        """Return the number of copies of a message on a machine that has read the log."""

        async def look(tx: Transaction) -> int:
            copies = await tx.deliveries.of_message(MessageId(message_id))
            assert (await tx.messages.get(MessageId(message_id)) is not None) == bool(copies)
            return len(copies)

        ports = connect_inline(parse_store_url(machine), ())
        try:
            return finish(ports.store.read(look))
        finally:
            finish(ports.close())

    def judge(self, *, is_there: bool) -> None:
        """Check the message from every machine, send it again, and check once more."""
        for machine in (self.there, self.here):
            assert self.copies(machine) == int(is_there)
        for machine in (self.here, self.there):
            send(machine, ASKED)
        ports = connect_inline(parse_store_url(self.elsewhere), ())
        services = Services(ports)
        try:
            sent = finish(services.history.read(0, 100, EventFilter(action=Action.MESSAGE_SENT)))
            assert [event.message_id for event in sent].count(MessageId(ASKED)) == 1
            owed = finish(services.dialogue.owed_by(AgentName("bob")))
            assert [ticket.message_id for ticket in owed].count(MessageId(ASKED)) == 1
            assert finish(services.audit.check()) == []
        finally:
            finish(ports.close())
        replicas = [brought_up(machine) for machine in (self.here, self.there, self.elsewhere)]
        assert [fault for replica in replicas for fault in integrity_check(replica)] == []
        assert content(replicas[0]) == content(replicas[1]) == content(replicas[2])


@pytest.fixture
def space(server: NatsServer, tmp_path: Path, request: pytest.FixtureRequest) -> Space:
    folder = tmp_path / f"s{abs(hash(request.node.name))}"
    folder.mkdir()
    return Space(server, folder)


@pytest.mark.parametrize("step", SENDING)
def test_a_message_exists_if_it_was_published(space: Space, step: str) -> None:
    brought_up(space.here)
    space.dies(step, space.here)
    space.judge(is_there=step != "before it is published")


@pytest.mark.parametrize("step", TAKING_IN)
def test_records_of_other_machines_are_applied_once(space: Space, step: str) -> None:
    send(space.here, OTHERS[0])
    for message_id in OTHERS[1:]:
        send(space.there, message_id)
    space.dies(step, space.here)
    space.judge(is_there=False)
    assert [space.copies(space.here, message_id) for message_id in OTHERS] == [1] * len(OTHERS)


@pytest.mark.parametrize("step", KEEPING)
def test_a_snapshot_is_kept_completely_or_not_at_all(space: Space, step: str) -> None:
    for message_id in OTHERS[:2]:
        send(space.there, message_id)
        keep(space.there)
    send(space.there, ASKED)
    space.dies(step, space.here)
    send(space.there, OTHERS[2])
    keep(space.there)
    space.judge(is_there=True)
    assert [space.copies(space.elsewhere, message_id) for message_id in OTHERS[:3]] == [1] * 3


@pytest.mark.parametrize("step", BEGINNING)
def test_a_machine_starts_from_a_snapshot_or_has_nothing_yet(space: Space, step: str) -> None:
    for message_id in OTHERS[:3]:
        send(space.there, message_id)
        keep(space.there)
    space.dies(step, space.here)
    space.judge(is_there=False)
    assert [space.copies(space.here, message_id) for message_id in OTHERS[:3]] == [1] * 3
