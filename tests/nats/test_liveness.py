"""Liveness on NATS, as another machine sees it. The contract tests a single machine."""

import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from covey.core.directory.session import Holder
from tests.nats.servers import NatsServer, one_node
from tests.nats.spaces import OpenedLiveness

LIMIT_S = 20.0


@pytest.fixture
def here(place: str, tmp_path: Path) -> Generator[OpenedLiveness]:
    with closing(OpenedLiveness(place, str(tmp_path / "here"))) as liveness:
        yield liveness


@pytest.fixture
def there(place: str, tmp_path: Path) -> Generator[OpenedLiveness]:
    with closing(OpenedLiveness(place, str(tmp_path / "there"))) as liveness:
        yield liveness


def test_a_holder_on_one_machine_is_seen_on_another(here: OpenedLiveness, there: OpenedLiveness) -> None:
    assert here.is_held(there.hold())
    assert there.is_held(here.hold())


def test_a_released_holder_is_not_held_on_another_machine(here: OpenedLiveness, there: OpenedLiveness) -> None:
    holder = there.hold()
    assert here.is_held(holder)
    there.close()
    assert not here.is_held(holder)


def test_a_program_that_does_not_wait_for_its_lease_is_seen_and_seen_to_leave(place: str, tmp_path: Path) -> None:
    with (
        closing(OpenedLiveness(place, str(tmp_path / "here"))) as here,
        closing(OpenedLiveness(place, str(tmp_path / "there"), waits=False)) as there,
    ):
        here.hold()
        holder = there.hold()
        there.link.call(lambda _client: there.link.settled(), LIMIT_S)
        assert here.is_held(holder)
        there.close()
        end = time.monotonic() + LIMIT_S / 2  # well before its lease expires
        while here.is_held(holder):
            assert time.monotonic() < end
            time.sleep(0.02)


def test_a_process_of_another_machine_is_held_while_that_machine_is_there(
    here: OpenedLiveness, there: OpenedLiveness
) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        holder = there.process(process.pid)
        assert holder is not None
        assert holder != here.process(process.pid)
        assert here.is_held(holder)
        process.communicate(timeout=LIMIT_S)
    assert not there.is_held(holder)


@pytest.mark.parametrize("lock", ["", "x", "_.0123456789abcdef.x", "_.>.*", "_.0123456789abcdef." + "0" * 32])
def test_an_unknown_lock_is_not_held(here: OpenedLiveness, lock: str) -> None:
    here.hold()
    assert not here.is_held(Holder(lock=lock))
    assert not here.is_held(Holder(pid=1, started=lock))


def test_a_killed_process_is_gone_for_other_machines_when_its_lease_expires(place: str, tmp_path: Path) -> None:
    program = (
        "import sys; from tests.nats.spaces import open_liveness\n"
        "print(open_liveness(sys.argv[1]).hold().lock, flush=True); sys.stdin.read()"
    )
    with (
        closing(OpenedLiveness(place, str(tmp_path / "here"), "1")) as here,
        subprocess.Popen(
            [sys.executable, "-c", program, f"{place} {tmp_path / 'there'} 1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        holder = Holder(lock=process.stdout.readline().strip())
        end = time.monotonic() + 1.5
        while time.monotonic() < end:  # longer than one lease, which is renewed
            assert here.is_held(holder)
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
        process.wait(LIMIT_S)
        end = time.monotonic() + LIMIT_S
        while here.is_held(holder):
            assert time.monotonic() < end
            time.sleep(0.05)


def test_after_a_long_time_without_renewals_all_holders_get_the_time_of_a_lease_to_return(
    place: str, tmp_path: Path
) -> None:
    gone = Holder(lock=f"_.{'0' * 16}.{'0' * 32}")
    with closing(OpenedLiveness(place, str(tmp_path / "here"), "1")) as here:
        assert here.is_held(gone), "the servers may have been down"
        end = time.monotonic() + LIMIT_S
        while here.is_held(gone):
            assert time.monotonic() < end
            time.sleep(0.05)


def test_leases_survive_a_restart_of_the_server(tmp_path: Path) -> None:
    with one_node(tmp_path / "server") as server:
        kept: NatsServer = server
        with (
            closing(OpenedLiveness(f"{kept.address}/team", str(tmp_path / "here"))) as here,
            closing(OpenedLiveness(f"{kept.address}/team", str(tmp_path / "there"))) as there,
        ):
            holder = there.hold()
            kept.kill()
            kept.start()
            assert here.is_held(holder)
