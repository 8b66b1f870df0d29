"""Store URLs: which engine keeps a space, and where."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from covey.core.errors import Invalid

STORE_FILE: Final = "covey.db"
STORE_FOLDER: Final = ".covey"


class Engine(StrEnum):
    MEMORY = "memory"
    SQLITE = "sqlite"
    FILES = "files"
    """The same as sqlite, in a folder that people and foreign programs share."""


class StoreUrl(NamedTuple):
    """memory:, sqlite:PATH[?synchronous=full|normal], or files:PATH[?layout=dialogue|mailbox]."""

    engine: Engine
    place: str
    options: Mapping[str, str]

    @property
    def file(self) -> str | None:
        """The file of the ledger, as it is written in the URL; None where there is none."""
        if self.engine is Engine.MEMORY:
            return None
        return self.place if self.engine is Engine.SQLITE else f"{self.place}/{STORE_FOLDER}/{STORE_FILE}"

    def __str__(self) -> str:
        options = "&".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.engine}:{self.place}" + (f"?{options}" if options else "")


_OPTIONS: Mapping[Engine, Mapping[str, tuple[str, ...]]] = {
    Engine.MEMORY: {},
    Engine.SQLITE: {"synchronous": ("full", "normal")},
    Engine.FILES: {"layout": ("dialogue", "mailbox"), "synchronous": ("full", "normal")},
}
_ADVICE = "use memory:, sqlite:PATH or files:PATH"


def parse_store_url(text: str) -> StoreUrl:
    """Return `text` as a store URL; an engine or option that is not there is Invalid."""
    scheme, colon, rest = text.partition(":")
    try:
        engine = Engine(scheme)
    except ValueError:
        raise Invalid("store URL", text, _ADVICE) from None
    if not colon:
        raise Invalid("store URL", text, _ADVICE)
    place, _, query = rest.partition("?")
    if engine is not Engine.MEMORY and (not place or "\0" in place):
        what = "a file: sqlite:PATH" if engine is Engine.SQLITE else "a folder: files:PATH"
        raise Invalid("store URL", text, f"name {what}")
    options: dict[str, str] = {}
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        allowed = _OPTIONS[engine].get(name)
        if allowed is None or value not in allowed:
            known = "; ".join(f"{known}={'|'.join(values)}" for known, values in _OPTIONS[engine].items())
            raise Invalid("store option", pair, f"known are: {known or 'none'}")
        options[name] = value
    return StoreUrl(engine, place, options)
