"""The doctor: examines every area of a space, reports findings, and repairs those that can be repaired."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, NamedTuple

from covey.core.care.diagnoses import NOT_EXAMINED, RECORD_UNREADABLE, STORE_DAMAGED
from covey.core.care.finding import Area, Examination, Finding
from covey.core.errors import CoveyError, MessageDamaged, RecordDamaged, StoreCorrupt, Unavailable
from covey.core.identity import Identity
from covey.ports.care import Checkup, ProgressCallback
from covey.ports.space import Ports
from covey.services.care.audit import Audit
from covey.services.care.doctor.channels import ChannelsCheckup
from covey.services.care.doctor.journal import JournalCheckup
from covey.services.care.doctor.mail import InboxesCheckup, OffersCheckup, TicketsCheckup
from covey.services.care.doctor.storms import StormsCheckup
from covey.services.care.doctor.work import RunsCheckup, SessionsCheckup, TasksCheckup
from covey.services.care.upkeep import Upkeep

Opening = Callable[[], Sequence[Checkup]]
"""Opens the records and returns their checkups. Called only if nothing beneath prevents reading them. May raise
Unavailable."""


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
"""Areas that can be examined only if the records can be read."""


class RepairFailure(NamedTuple):
    """A finding that could not be repaired."""

    finding: Finding
    error: CoveyError


class Doctor:
    def __init__(self, beneath: Sequence[Checkup], opening: Opening) -> None:
        self._beneath = beneath
        self._opening = opening
        self._records: Sequence[Checkup] = ()

    async def examine(self, *, thorough: bool, tell: Callable[[Area], ProgressCallback]) -> AsyncIterator[Examination]:
        """Examine every area in turn, first those beneath the records, then the records. An area that can't be examined
        is reported as not examined."""
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

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> Sequence[RepairFailure]:
        """Apply the remedies, area by area. Return those that failed."""
        failures: list[RepairFailure] = []
        for checkup in (*self._beneath, *self._records):
            due = [f for f in findings if f.diagnosis.area is checkup.area and f.remedy is not None]
            if due:
                try:
                    await checkup.mend(due, actor)
                except (CoveyError, OSError) as error:
                    failures += [RepairFailure(finding, _fact(error)) for finding in due]
        return failures


def record_checkups(ports: Ports) -> Sequence[Checkup]:
    """Return the checkups of a space's records."""
    store, clock, liveness = ports.store, ports.clock, ports.liveness
    upkeep = Upkeep(store, clock, ports.ids, liveness)
    return (
        SessionsCheckup(store, clock, liveness, upkeep),
        OffersCheckup(store, clock),
        InboxesCheckup(store, clock, liveness),
        TicketsCheckup(store, clock, liveness),
        TasksCheckup(store, clock, upkeep),
        RunsCheckup(store, clock, upkeep),
        StormsCheckup(store, clock, liveness),
        ChannelsCheckup(store, clock),
        JournalCheckup(Audit(store)),
    )


async def _examined(checkup: Checkup, thorough: bool, tell: Callable[[Area], ProgressCallback]) -> Examination:
    try:
        return await checkup.examine(thorough=thorough, tell=tell(checkup.area))
    except (RecordDamaged, MessageDamaged) as error:
        finding = Finding(RECORD_UNREADABLE, f"{checkup.area}: {error.message}")
        return Examination(checkup.area, "not examined", (finding,), is_done=False)
    except (Unavailable, OSError) as error:
        return _hindered(checkup.area, _fact(error))
    except (CoveyError, ValueError, LookupError, TypeError, AttributeError) as error:
        # Raised by the decoders for records that no version of Covey has written.
        what = f"{checkup.area}: a record can't be read ({type(error).__name__}: {error})"
        return Examination(checkup.area, "not examined", (Finding(RECORD_UNREADABLE, what),), is_done=False)


def _hindered(area: Area, error: CoveyError) -> Examination:
    if isinstance(error, StoreCorrupt):
        return Examination(area, "not examined", (Finding(STORE_DAMAGED, error.message),), is_done=False)
    finding = Finding(NOT_EXAMINED, f"{area}: {error.message}", (error.advice,) if error.advice else ())
    return Examination(area, "not examined", (finding,), is_done=False)


def _fact(error: CoveyError | OSError) -> CoveyError:
    return error if isinstance(error, CoveyError) else Unavailable(str(error))
