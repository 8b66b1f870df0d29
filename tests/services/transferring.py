"""Exports and imports in tests, and the records that must be the same afterwards."""

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from covey.core.channels.channel import is_private
from covey.core.channels.post import Binding, Post
from covey.core.directory.session import Holder, Session
from covey.core.formats.portable import FiledMessage, NumberedAgent, Setting
from covey.core.identity import THE_SPACE, Token
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.event import Action, Event
from covey.core.ledger.offer import Offer
from covey.core.ledger.ticket import Ticket
from covey.core.names import MessageId
from covey.core.work.run import Run
from covey.core.work.task import Task
from covey.ports.views import Views
from covey.services.directory.settings import OF_THE_STORE
from covey.services.space import Services
from covey.services.transfer.imports import ImportResult, Lines, is_progress
from tests.properties.world import finish

ALL = 1_000_000


def nothing(_label: str, _done: int, _total: int | None) -> None:
    """Report no progress."""


def exported(services: Services, views: Views, *, with_tokens: bool = True) -> list[bytes]:
    """Return the lines of an export."""

    async def read() -> list[bytes]:
        async with services.exports(views).open(with_tokens=with_tokens) as export:
            return [line async for line in export.lines()]

    return finish(read())


def given_lines(lines: Sequence[bytes]) -> Lines:
    """Return lines in the form that an import takes."""

    async def again() -> AsyncIterator[bytes]:
        for line in lines:
            yield line

    return again


def imported(services: Services, lines: Sequence[bytes]) -> ImportResult:
    """Import an export."""
    return finish(services.imports.take_in(given_lines(lines), THE_SPACE, nothing))


class Everything(NamedTuple):
    """All records, without the differences that are allowed between two spaces: engine-specific numbers (not their
    order), records that are not exported, and records about an import."""

    agents: Sequence[NumberedAgent]
    settings: Sequence[Setting]
    tokens: Sequence[Token]
    events: Sequence[Event]
    sessions: Sequence[Session]
    offers: Sequence[Offer]
    pruned: Sequence[MessageId]
    messages: Sequence[FiledMessage]
    tickets: Sequence[Ticket]
    deliveries: Sequence[DeliveryRecord]
    tasks: Sequence[Task]
    bindings: Sequence[Binding]
    posts: Sequence[Post]
    runs: Sequence[Run]


def everything(views: Views) -> Everything:
    """Return all records of a space."""

    async def read() -> Everything:
        async with views.view() as view:
            return Everything(
                agents=list(await view.agents()),
                settings=[setting for setting in await view.settings() if _travels(setting)],
                tokens=list(await view.tokens()),
                events=_events(await view.events(0, ALL)),
                sessions=[_session(placed.record) for placed in await view.sessions(0, ALL)],
                offers=[placed.record for placed in await view.offers(0, ALL)],
                pruned=list(await view.pruned("", ALL)),
                messages=[placed.record for placed in await view.messages(0, ALL)],
                tickets=[placed.record for placed in await view.tickets(0, ALL)],
                deliveries=_deliveries(await view.deliveries(0, ALL)),
                tasks=[placed.record for placed in await view.tasks(0, ALL)],
                bindings=list(await view.bindings()),
                posts=[placed.record._replace(holder=None) for placed in await view.posts(0, ALL)],
                runs=[placed.record._replace(folder=None) for placed in await view.runs(0, ALL)],
            )

    return finish(read())


def _travels(setting: Setting) -> bool:
    stays = is_progress(setting.name) or is_private(setting.name) or setting.name in OF_THE_STORE
    return not stays


def check_same(left: Views, right: Views) -> None:
    """Fail if two spaces differ."""
    check_equal(everything(left), everything(right), Everything._fields)


def check_equal(left: Everything, right: Everything, kinds: Sequence[str]) -> None:
    """Fail if two spaces differ in one of these kinds of record."""
    for kind in kinds:
        assert getattr(left, kind) == getattr(right, kind), kind


def check_sound(services: Services) -> None:
    """Fail if the audit of a space finds a fault."""
    found = finish(services.audit.check())
    assert not found, "\n".join(str(disagreement) for disagreement in found)


def _events(events: Sequence[Event]) -> Sequence[Event]:
    return [event._replace(position=0) for event in events if event.action is not Action.SPACE_IMPORTED]


def _session(session: Session) -> Session:
    return session._replace(holder=Holder(), secret_hash="")


def _deliveries(deliveries: Sequence[DeliveryRecord]) -> Sequence[DeliveryRecord]:
    return [delivery._replace(seq=rank) for rank, delivery in enumerate(deliveries)]
