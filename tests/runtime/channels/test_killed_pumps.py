"""Pumps in separate processes, killed at any moment, and several at once. No post is lost, and none is taken twice."""

import random
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from covey.core.channels.post import PostState
from covey.core.coroutine import finish
from covey.core.identity import Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Callback, Kind, TextPart
from covey.core.names import AgentName
from covey.engines import connect_inline, parse_store_url
from covey.services.mail.recipients import SendPolicy
from covey.services.space import Services
from covey.surfaces.cli.exits import DONE
from tests.runtime.channels.receiving import Receiver, receiver_in, until
from tests.surfaces.commands import Folder, Started

OPS = AgentName("ops")


class Sender:
    """An agent of this process that sends messages to people."""

    def __init__(self, folder: Folder) -> None:
        self.ports = connect_inline(parse_store_url(f"sqlite:{folder.path / '.covey' / 'covey.db'}"), [])
        self.services = Services(self.ports)

    def send(self, text: str, conversation: str) -> None:
        draft = Draft(Kind.NOTIFY, (parse_address("ops"),), (TextPart(text),), callback=Callback("ops", conversation))
        finish(self.services.mail.send(draft, Identity(AgentName("coder")), SendPolicy()))

    def in_state(self, state: PostState) -> int:
        return len(finish(self.services.posts.find(OPS, state, 1000)))


@pytest.fixture
def receiver(tmp_path: Path) -> Generator[Receiver]:
    with receiver_in(tmp_path) as receiver:
        yield receiver


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "space")
    made.path.mkdir()
    assert made.covey("init").code == DONE
    return made


@pytest.fixture
def sender(folder: Folder, receiver: Receiver) -> Generator[Sender]:
    receiver.start()
    (folder.path / "secret").write_text("a secret of ours\n")
    added = folder.covey("channels", "add", "ops", "--webhook", receiver.url, "--secret-file", "secret")
    assert added.code == DONE, added.err
    sender = Sender(folder)
    yield sender
    finish(sender.ports.close())


def started(folder: Folder) -> Started:
    pump = folder.start("channels", "run", "ops", "--json")
    assert '"ready"' in pump.line()
    return pump


def test_a_taken_post_whose_pump_was_killed_is_carried_again_and_taken_once(
    folder: Folder, receiver: Receiver, sender: Sender
) -> None:
    receiver.kill()
    receiver.start("ok", "hang")
    for n in range(3):
        sender.send(str(n), "c-1")
    with started(folder) as pump:
        until(lambda: len(receiver.requests) == 2, "the post that is not answered")
        pump.process.send_signal(signal.SIGKILL)
        pump.process.wait(10)
    with started(folder):
        until(lambda: sender.in_state(PostState.DELIVERED) == 3, "the rest")
    assert receiver.texts("c-1") == ["0", "1", "2"]
    assert [request["taken"] for request in receiver.requests] == [True, True, False, True]


def test_pumps_and_receivers_that_die_at_random_lose_no_post_and_repeat_none(
    folder: Folder, receiver: Receiver, sender: Sender
) -> None:
    chance = random.Random(5)
    conversations = {f"c-{n}": [str(m) for m in range(8)] for n in range(4)}
    for m in range(8):
        for conversation in conversations:
            sender.send(str(m), conversation)
    for n in range(4):
        receiver.kill()
        # One conversation hangs, so that a post is in flight when the pump dies. The other conversations continue.
        behaviours = ["hang", "lose", "drop"] if n == 0 else ["hang"]
        behaviours += ["ok"] * (10 - len(behaviours))
        chance.shuffle(behaviours)
        receiver.start(*behaviours)
        before = len(receiver.requests)
        wanted = before + chance.randint(1, 6)
        with started(folder) as pump:
            until(lambda wanted=wanted: len(receiver.requests) >= wanted, "a few requests")
            pump.process.send_signal(signal.SIGKILL)
            pump.process.wait(10)
    receiver.kill()
    receiver.start()
    with started(folder):
        until(lambda: sender.in_state(PostState.DELIVERED) == 32, "all posts")
    assert {conversation: receiver.texts(conversation) for conversation in conversations} == conversations
    assert len({request["key"] for request in receiver.taken}) == len(receiver.taken) == 32


def test_two_pumps_share_the_work_and_no_post_is_carried_twice(
    folder: Folder, receiver: Receiver, sender: Sender
) -> None:
    with started(folder), started(folder):
        for n in range(60):
            sender.send(str(n), f"c-{n % 6}")
        until(lambda: sender.in_state(PostState.DELIVERED) == 60, "all posts")
    assert len(receiver.requests) == 60
    for n in range(6):
        assert receiver.texts(f"c-{n}") == [str(m) for m in range(n, 60, 6)]
