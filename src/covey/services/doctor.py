"""The doctor: looks at every area of a space, says what is wrong, and mends what can be mended."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, NamedTuple

from covey.core.diagnoses import NOT_EXAMINED, RECORD_UNREADABLE, STORE_DAMAGED
from covey.core.errors import CoveyError, MessageDamaged, RecordDamaged, StoreCorrupt, Unavailable
from covey.core.finding import Area, Examination, Finding
from covey.core.identity import Identity
from covey.ports.checkup import Checkup, Tell
from covey.ports.space import Ports
from covey.services.audit import Audit
from covey.services.doctor_channels import ChannelsCheckup
from covey.services.doctor_inboxes import InboxesCheckup
from covey.services.doctor_journal import JournalCheckup
from covey.services.doctor_offers import OffersCheckup
from covey.services.doctor_runs import RunsCheckup
from covey.services.doctor_sessions import SessionsCheckup
from covey.services.doctor_storms import StormsCheckup
from covey.services.doctor_tasks import TasksCheckup
from covey.services.doctor_tickets import TicketsCheckup
from covey.services.upkeep import Upkeep

Opening = Callable[[], Sequence[Checkup]]
"""Opens the records and returns what examines them. It is called only where nothing beneath keeps them from being
read, and may still raise Unavailable."""


RECORD_AREAS: Final = (
    Area.SEARCH,
    Area.BLOBS,
    Area.SESSIONS,
    Area.OFFERS,
    Area.INBOXES,
    Area.TICKETS,
    Area.TASKS,
    Area.RUNS,
    Area.STORMS,
    Area.CHANNELS,
    Area.JOURNAL,
)
"""What can be looked at only where the records can be read."""


class Failure(NamedTuple):
    """A finding that could not be mended."""

    finding: Finding
    error: CoveyError


class Doctor:
    def __init__(self, beneath: Sequence[Checkup], opening: Opening) -> None:
        self._beneath = beneath
        self._opening = opening
        self._records: Sequence[Checkup] = ()

    async def examine(self, *, thorough: bool, tell: Callable[[Area], Tell]) -> AsyncIterator[Examination]:
        """Look at every area in turn, first beneath the records, then at them; what can't be looked at says so."""
        is_blocked = False
        for checkup in self._beneath:
            examination = await _examined(checkup, thorough, tell)
            is_blocked = is_blocked or any(finding.diagnosis.blocks for finding in examination.findings)
            yield examination
        if not is_blocked and not self._records:
            try:
                self._records = self._opening()
            except CoveyError as error:
                is_blocked = True
                yield _hindered(Area.STORE, error)
        if is_blocked:
            for area in RECORD_AREAS:
                yield Examination(area, "not examined, because the records can't be read now", is_done=False)
            return
        for checkup in self._records:
            yield await _examined(checkup, thorough, tell)

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> Sequence[Failure]:
        """Do what the remedies say, area by area; return what could not be done."""
        failures: list[Failure] = []
        for checkup in (*self._beneath, *self._records):
            due = [f for f in findings if f.diagnosis.area is checkup.area and f.remedy is not None]
            if due:
                try:
                    await checkup.mend(due, actor)
                except (CoveyError, OSError) as error:
                    failures += [Failure(finding, _fact(error)) for finding in due]
        return failures


def record_checkups(ports: Ports) -> Sequence[Checkup]:
    """Return what examines the records of a space."""
    store, clock, liveness = ports.store, ports.clock, ports.liveness
    upkeep = Upkeep(store, clock, ports.ids, liveness)
    return (
        SessionsCheckup(store, clock, liveness, upkeep),
        OffersCheckup(store, clock),
        InboxesCheckup(store, clock, liveness),
        TicketsCheckup(store, clock),
        TasksCheckup(store, clock, upkeep),
        RunsCheckup(store, clock, upkeep),
        StormsCheckup(store, clock, liveness),
        ChannelsCheckup(store, clock),
        JournalCheckup(Audit(store)),
    )


async def _examined(checkup: Checkup, thorough: bool, tell: Callable[[Area], Tell]) -> Examination:
    try:
        return await checkup.examine(thorough=thorough, tell=tell(checkup.area))
    except (RecordDamaged, MessageDamaged) as error:
        finding = Finding(RECORD_UNREADABLE, f"{checkup.area}: {error.message}")
        return Examination(checkup.area, "not examined", (finding,), is_done=False)
    except (Unavailable, OSError) as error:
        return _hindered(checkup.area, _fact(error))
    except (CoveyError, ValueError, LookupError, TypeError, AttributeError) as error:
        # What the decoders of records raise on what no Covey has written.
        what = f"{checkup.area}: a record can't be read ({type(error).__name__}: {error})"
        return Examination(checkup.area, "not examined", (Finding(RECORD_UNREADABLE, what),), is_done=False)


def _hindered(area: Area, error: CoveyError) -> Examination:
    if isinstance(error, StoreCorrupt):
        return Examination(area, "not examined", (Finding(STORE_DAMAGED, error.message),), is_done=False)
    finding = Finding(NOT_EXAMINED, f"{area}: {error.message}", (error.advice,) if error.advice else ())
    return Examination(area, "not examined", (finding,), is_done=False)


def _fact(error: CoveyError | OSError) -> CoveyError:
    return error if isinstance(error, CoveyError) else Unavailable(str(error))
