"""The finding: one fault of a space, with its meaning and advice."""

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    ERROR = "error"
    """Something does not work, or accepted messages are in danger."""

    WARNING = "warning"
    """Nothing is lost, but the fault stays until a person acts."""

    NOTICE = "notice"
    """The next program that is active in the space repairs it; until then nothing depends on it."""

    REMARK = "remark"
    """Nothing is wrong with the space, but a person may want to act. The space counts as healthy."""


class Area(StrEnum):
    """A part of a space that is examined as a unit."""

    SERVER = "server"
    """Only for a space on a server."""
    STORE = "store"
    FILES = "files"
    FOLDER = "folder"
    """The folder that other programs share; only files stores have one."""
    WAKEUPS = "wake-ups"
    SEARCH = "search"
    BLOBS = "blobs"
    SESSIONS = "sessions"
    OFFERS = "offers"
    INBOXES = "inboxes"
    TICKETS = "tickets"
    TASKS = "tasks"
    RUNS = "runs"
    STORMS = "storms"
    CHANNELS = "channels"
    JOURNAL = "journal"


class Diagnosis(NamedTuple):
    """A kind of finding. Its code is stable: programs may depend on it."""

    code: str
    area: Area
    severity: Severity
    meaning: str
    advice: str
    remedy: str | None = None
    """The effect of --fix; None if only people can repair the fault."""
    blocks: bool = False
    """True if the records can't be read while the fault exists."""


class Finding(NamedTuple):
    diagnosis: Diagnosis
    what: str
    """One line on the fault, with a count."""
    items: tuple[str, ...] = ()
    """The affected things: paths, ids, names."""
    hindrance: str | None = None
    """The reason why --fix can't repair this finding, although it can repair others of its kind."""

    @property
    def code(self) -> str:
        return self.diagnosis.code

    @property
    def remedy(self) -> str | None:
        """The effect of --fix; None if it can do nothing."""
        return self.diagnosis.remedy if self.hindrance is None else None


class Examination(NamedTuple):
    """The result of examining one area."""

    area: Area
    summary: str
    """A few words on what was examined, or on why the area was skipped."""
    findings: tuple[Finding, ...] = ()
    is_done: bool = True
    """False if the area was skipped."""
    remarks: tuple[Finding, ...] = ()
    """Findings of severity REMARK, which are no faults."""
    notes: tuple[str, ...] = ()
    """Remarks on unusual settings that are intended: no faults."""
