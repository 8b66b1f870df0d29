"""The doctor: it continues if a checkup fails, and reports the areas that it could not examine or mend."""

from collections.abc import Sequence

from covey.core.care.diagnoses import STORE_NEWER, WRONG_PERMISSIONS
from covey.core.care.finding import Area, Examination, Finding
from covey.core.coroutine import finish
from covey.core.errors import CoveyError, Invalid, StoreBusy, StoreCorrupt, StoreReadOnly
from covey.core.identity import THE_SPACE, Identity
from covey.ports.care import Checkup, ProgressCallback
from covey.services.care.doctor.doctor import RECORD_AREAS, Doctor


class Scripted:
    """A checkup that reports the given findings, or raises the given error."""

    def __init__(self, area: Area, *found: Finding | Exception, mending: CoveyError | None = None) -> None:
        self.area = area
        self.mended: list[Finding] = []
        self._found = found
        self._mending = mending

    async def examine(self, *, thorough: bool, tell: ProgressCallback) -> Examination:
        for found in self._found:
            if isinstance(found, Exception):
                raise found
        return Examination(self.area, "fine", tuple(f for f in self._found if isinstance(f, Finding)))

    async def mend(self, findings: Sequence[Finding], actor: Identity) -> None:
        if self._mending is not None:
            raise self._mending
        self.mended += findings


def examine(doctor: Doctor) -> list[Examination]:
    async def look() -> list[Examination]:
        return [found async for found in doctor.examine(thorough=True, tell=lambda _area: lambda _done, _of: None)]

    return finish(look())


def nothing_to_open() -> Sequence[Checkup]:
    raise AssertionError("it was opened")


def test_a_blocking_finding_keeps_the_records_closed() -> None:
    doctor = Doctor([Scripted(Area.STORE, Finding(STORE_NEWER, "too new")), Scripted(Area.FILES)], nothing_to_open)
    store, files, *rest = examine(doctor)
    assert [finding.code for finding in store.findings] == ["store-newer"]
    assert files.is_done
    assert [examination.area for examination in rest] == list(RECORD_AREAS)
    assert not any(examination.is_done or examination.findings for examination in rest)


def test_records_that_can_not_be_opened_are_a_finding() -> None:
    def busy() -> Sequence[Checkup]:
        raise StoreBusy("covey.db", 30)

    store, hindered, *rest = examine(Doctor([Scripted(Area.STORE)], busy))
    assert store.is_done
    (finding,) = hindered.findings
    assert (finding.code, finding.items) == ("not-examined", (StoreBusy.advice,))
    assert "held by another process" in finding.what
    assert [examination.area for examination in rest] == list(RECORD_AREAS)


def test_one_area_that_fails_does_not_keep_the_others_from_being_examined() -> None:
    records = [
        Scripted(Area.SESSIONS, StoreBusy("covey.db", 30)),
        Scripted(Area.OFFERS, StoreCorrupt("covey.db", "a page is torn")),
        Scripted(Area.INBOXES, Invalid("card", "[]", "use an object")),
        Scripted(Area.TICKETS, KeyError("from")),
        Scripted(Area.JOURNAL),
    ]
    found = examine(Doctor([], lambda: records))
    codes = [finding.code for examination in found for finding in examination.findings]
    assert codes == ["not-examined", "store-damaged", "record-unreadable", "record-unreadable"]
    assert [examination.is_done for examination in found] == [False, False, False, False, True]


def test_a_failed_mending_is_reported_and_the_rest_is_mended() -> None:
    torn = Finding(WRONG_PERMISSIONS, "one file")
    stubborn = Scripted(Area.FILES, torn, mending=StoreReadOnly("covey.db", "it is a CD"))
    store = Scripted(Area.STORE)
    doctor = Doctor([stubborn, store], tuple)
    findings = [finding for examination in examine(doctor) for finding in examination.findings]
    (failure,) = finish(doctor.mend(findings, THE_SPACE))
    assert (failure.finding, failure.error.code) == (torn, "store-read-only")
    assert store.mended == []


def test_a_finding_without_a_remedy_is_not_mended() -> None:
    hindered = Finding(WRONG_PERMISSIONS, "one file", hindrance="it belongs to another user")
    files = Scripted(Area.FILES, hindered)
    doctor = Doctor([files], tuple)
    examine(doctor)
    assert finish(doctor.mend([hindered], THE_SPACE)) == []
    assert files.mended == []
