"""All services of one space, joined."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from covey.ports.blobs import Blobs
from covey.ports.clock import Clock, Ids
from covey.ports.files import Files
from covey.ports.presence import Liveness
from covey.ports.search import Search
from covey.ports.store import Store
from covey.ports.wakeups import Wakeups
from covey.services.acceptance import Acceptance
from covey.services.asks import Asks
from covey.services.attachments import Attachments
from covey.services.audit import Audit
from covey.services.claims import Claims
from covey.services.dialogue import Dialogue
from covey.services.directory import Directory
from covey.services.history import History
from covey.services.identities import Identities
from covey.services.mail import Mail
from covey.services.offers import Offers
from covey.services.policies import Policies
from covey.services.upkeep import Upkeep
from covey.services.waiting import RECHECK_SECONDS, Waiting


class Ports(NamedTuple):
    """What a space is made on: one adapter for each role."""

    store: Store
    wakeups: Wakeups
    blobs: Blobs
    search: Search
    liveness: Liveness
    files: Files
    clock: Clock
    ids: Ids


class Services(NamedTuple):
    directory: Directory
    mail: Mail
    offers: Offers
    dialogue: Dialogue
    asks: Asks
    claims: Claims
    identities: Identities
    history: History
    attachments: Attachments
    policies: Policies
    upkeep: Upkeep
    audit: Audit
    waiting: Waiting
    clock: Clock


def services(ports: Ports, recheck: float = RECHECK_SECONDS) -> Services:
    """Return the services over these adapters."""
    upkeep = Upkeep(ports.store, ports.clock, ports.ids, ports.liveness)
    tend: Callable[[], Awaitable[object]] = upkeep.tend
    waiting = Waiting(ports.wakeups, ports.clock, tend, recheck)
    acceptance = Acceptance(ports.ids, ports.liveness)
    mail = Mail(ports.store, ports.clock, ports.ids, ports.blobs, acceptance, waiting)
    return Services(
        directory=Directory(ports.store, ports.clock, ports.ids, ports.liveness),
        mail=mail,
        offers=Offers(ports.store, ports.clock, ports.ids, upkeep),
        dialogue=Dialogue(ports.store, ports.clock),
        asks=Asks(ports.store, ports.clock, mail, waiting),
        claims=Claims(ports.store, ports.clock, ports.liveness),
        identities=Identities(ports.store, ports.clock, ports.ids),
        history=History(ports.store, ports.search),
        attachments=Attachments(ports.blobs, ports.files),
        policies=Policies(ports.store, ports.clock),
        upkeep=upkeep,
        audit=Audit(ports.store),
        waiting=waiting,
        clock=ports.clock,
    )


async def close(ports: Ports) -> None:
    """Let go of every adapter, in the order in which they depend on each other."""
    await ports.wakeups.close()
    await ports.search.close()
    await ports.store.close()
    ports.liveness.close()
