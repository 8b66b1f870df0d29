"""The finding: one thing that is wrong with a space, what it means, and what to do about it."""

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    ERROR = "error"
    """Something does not work, or what was accepted is in danger."""

    WARNING = "warning"
    """Nothing is lost, but it stays so until somebody does something."""

    NOTICE = "notice"
    """Whoever is active in the space next sees to it; until then nothing depends on it."""


class Area(StrEnum):
    """What is examined as one."""

    SERVER = "server"
    """Only where a space is on one."""
    STORE = "store"
    FILES = "files"
    FOLDER = "folder"
    """Which other programs share; only files stores have one."""
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
    """What mending does; None where only people can do something."""
    blocks: bool = False
    """Whether the records can't be read while it is so."""


class Finding(NamedTuple):
    diagnosis: Diagnosis
    what: str
    """What was found, with its count: one line."""
    items: tuple[str, ...] = ()
    """What it is about, one by one: paths, ids, names."""
    hindrance: str | None = None
    """Why it can't be mended here, although others of its kind can."""

    @property
    def code(self) -> str:
        return self.diagnosis.code

    @property
    def remedy(self) -> str | None:
        """What mending would do; None where it can do nothing."""
        return self.diagnosis.remedy if self.hindrance is None else None


class Examination(NamedTuple):
    """What a look at one area came to."""

    area: Area
    summary: str
    """What was looked at, or why it was not: a few words."""
    findings: tuple[Finding, ...] = ()
    is_done: bool = True
    """False where the area was left out."""
    notes: tuple[str, ...] = ()
    """What somebody meant to be so, and others may wonder at: nothing is wrong."""
