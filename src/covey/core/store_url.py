"""Store URLs: the engine of a space, and its location."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import Invalid

STORE_FILE: Final = "covey.db"
STORE_FOLDER: Final = ".covey"

BLOBS_FOLDER: Final = "blobs"
LIVE_FOLDER: Final = "live"
RUNS_FOLDER: Final = "runs"
WORK_FOLDER: Final = "work"
"""Names of the folders beside the file of a ledger."""

APPLICATION_ID: Final = 0x436F7679
"""The mark of a ledger in the header of an SQLite file: the letters Covy."""


class Engine(StrEnum):
    MEMORY = "memory"
    SQLITE = "sqlite"
    FILES = "files"
    """Like sqlite, in a folder that people and foreign programs share."""
    NATS = "nats"


class StoreUrl(NamedTuple):
    """memory:, sqlite:PATH[?synchronous=full|normal], files:PATH[?layout=dialogue|mailbox], or
    nats://[LOGIN@]HOST:PORT[,HOST:PORT…]/SPACE[?OPTIONS]; tls:// is nats:// with a secure connection."""

    engine: Engine
    place: str
    """The text between the engine and the options; for tls://, including that prefix."""
    options: Mapping[str, str]

    @property
    def file(self) -> str | None:
        """The path of the ledger, as the URL has it; None for an engine without a file."""
        if self.engine in (Engine.MEMORY, Engine.NATS):
            return None
        return self.place if self.engine is Engine.SQLITE else f"{self.place}/{STORE_FOLDER}/{STORE_FILE}"

    def __str__(self) -> str:
        """Return the URL without a login."""
        return without_login(self.with_login()) if self.engine is Engine.NATS else self.with_login()

    def __repr__(self) -> str:
        return f"StoreUrl({str(self)!r})"

    def with_login(self) -> str:
        """Return the URL with its login, if any, for a process that is to open the same space."""
        options = "&".join(f"{name}={value}" for name, value in self.options.items())
        scheme = "" if self.place.startswith(SECURE) else f"{self.engine}:"
        return f"{scheme}{self.place}" + (f"?{options}" if options else "")


SECURE: Final = "tls://"

_KNOWN: Final = "use memory:, sqlite:PATH, files:PATH or nats://HOST:PORT/SPACE"

_OPTIONS: Mapping[Engine, Mapping[str, tuple[str, ...]]] = {
    Engine.MEMORY: {},
    Engine.SQLITE: {"synchronous": ("full", "normal")},
    Engine.FILES: {"layout": ("dialogue", "mailbox"), "synchronous": ("full", "normal")},
}
"""The options of each engine with their values. The NATS adapter checks its own options."""


def parse_store_url(text: str) -> StoreUrl:
    """Parse a store URL. Raise Invalid for an unknown engine or option."""
    scheme, colon, rest = text.partition(":")
    if text.startswith(SECURE):
        scheme, rest = Engine.NATS.value, text
    if scheme not in Engine.__members__.values() or not colon:
        raise Invalid("store URL", without_login(text), _KNOWN)
    engine = Engine(scheme)
    place, _, query = rest.partition("?")
    if engine in (Engine.SQLITE, Engine.FILES) and (not place or "\0" in place):
        what = "a file: sqlite:PATH" if engine is Engine.SQLITE else "a folder: files:PATH"
        raise Invalid("store URL", text, f"name {what}")
    if engine is Engine.NATS and "//" not in place:
        raise Invalid("store URL", without_login(text), "use nats://HOST:PORT/SPACE")
    options: dict[str, str] = {}
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        if engine is not Engine.NATS and value not in _OPTIONS[engine].get(name, ()):
            known = "; ".join(f"{known}={'|'.join(values)}" for known, values in _OPTIONS[engine].items())
            raise Invalid("store option", pair, f"known are: {known or 'none'}")
        options[name] = value
    return StoreUrl(engine, place, options)


def without_login(url: str) -> str:
    """Return the URL of a server without its login, if any, so that it can be shown."""
    before, slashes, rest = url.partition("//")
    return f"{before}//{rest.rpartition('@')[2]}" if slashes else url
