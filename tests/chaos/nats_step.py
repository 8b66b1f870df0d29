"""A process that dies at a given step: `python -m tests.chaos.nats_step STEP URL MESSAGE_ID`.

The process runs Covey's own code; only the SIGKILL is injected. It prints a line if it survives.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any, Final

from covey.adapters.doorbell.ringer import RingOnly
from covey.adapters.nats.client.requests import PendingRequests
from covey.adapters.nats.log.log import NatsLog
from covey.adapters.nats.log.object_store import ObjectStore
from covey.adapters.nats.log.snapshots import NatsSnapshots
from covey.adapters.sqlite.care import snapshots
from covey.adapters.sqlite.replica import replica
from covey.adapters.sqlite.replica import snapshots as replica_snapshots
from covey.adapters.sqlite.replica.applier import Applier
from covey.core.coroutine import finish
from covey.core.identity import Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import AgentName, MessageId, Scope
from covey.engines import connect_inline, parse_store_url
from covey.engines.nats_ports import opener
from covey.services.mail.recipients import SendPolicy
from covey.services.space import Services
from tests.chaos.replicas import replica_of

Spot = Callable[[], None]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner: Any, name: str) -> Spot:
    """Die when this function would be called."""

    def fatal(*_args: Any, **_more: Any) -> None:
        die()

    return lambda: setattr(owner, name, fatal)


def after(owner: Any, name: str) -> Spot:
    """Die when this function has returned."""

    def put() -> None:
        call = getattr(owner, name)

        def fatal(*args: Any, **more: Any) -> None:
            call(*args, **more)
            die()

        setattr(owner, name, fatal)

    return put


def after_waiting(owner: Any, name: str) -> Spot:
    """Die when this coroutine has finished."""

    def put() -> None:
        call = getattr(owner, name)

        async def fatal(*args: Any, **more: Any) -> None:
            await call(*args, **more)
            die()

        setattr(owner, name, fatal)

    return put


def half_copied() -> None:
    """Die when some pages of a snapshot are in the replica."""
    copy = replica_snapshots.copy_pages

    def fatal(source: Any, target: Any, tell: Any) -> None:
        def told(done: int, total: int | None) -> None:
            tell(done, total)
            die()

        copy(source, target, told)

    snapshots.STEP = 4  # pyright: ignore[reportConstantRedefinition]  # even a small replica takes several steps
    replica_snapshots.copy_pages = fatal


SENDING: Final[dict[str, Spot]] = {
    "before it is published": before(NatsLog, "append"),
    "published, and nobody hears the answer": before(PendingRequests, "_hear"),
    "published, and not committed here": after(NatsLog, "append"),
    "committed here, and nobody is rung": before(RingOnly, "ring"),
}
"""Steps of a commit."""
TAKING_IN: Final[dict[str, Spot]] = {
    "others' records are fetched": after(NatsLog, "after"),
    "others' records are half applied": after(Applier, "_take_in"),
    "others' records are applied": after(Applier, "apply"),
}
"""Steps of applying the records of other machines."""
KEEPING: Final[dict[str, Spot]] = {
    "a snapshot is taken": after(replica_snapshots, "take"),
    "a snapshot is put": after_waiting(ObjectStore, "put_file"),
    "a snapshot is noted": after_waiting(NatsSnapshots, "_keep"),
    "the log is purged": before(ObjectStore, "remove"),
}
"""Steps of keeping a snapshot."""
BEGINNING: Final[dict[str, Spot]] = {
    "a snapshot is fetched": after(NatsSnapshots, "fetch"),
    "a snapshot is half copied": half_copied,
    "a snapshot is copied": after(replica, "begin_with"),
}
"""Steps of starting from a snapshot."""


def send(url: str, message_id: str) -> None:
    """Send a request that opens a ticket, as a command does."""
    ports = connect_inline(parse_store_url(url), ())
    draft = Draft(
        Kind.REQUEST,
        (parse_address("bob"),),
        (TextPart("is it there?"),),
        id=MessageId(message_id),
        scope=Scope("scope"),
        expects_reply=True,
    )
    finish(Services(ports).mail.send(draft, Identity(AgentName("ann")), SendPolicy()))
    finish(ports.close())


def keep(url: str) -> None:
    """Keep a snapshot."""
    own = opener(parse_store_url(url), str(replica_of(url)), lambda _: None)()
    assert own.snapshots is not None
    replica_snapshots.keep(own.path, own.snapshots)
    own.close()


def main(step: str, url: str, message_id: str) -> None:
    {**SENDING, **TAKING_IN, **KEEPING, **BEGINNING}.get(step, lambda: None)()
    if step in KEEPING or step == "keep":
        keep(url)
    else:
        send(url, message_id)
    print("survived", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
