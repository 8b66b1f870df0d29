"""Store URLs: which engine keeps a space, and where."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from covey.core.errors import Invalid


class Engine(StrEnum):
    MEMORY = "memory"
    SQLITE = "sqlite"


class StoreUrl(NamedTuple):
    """memory:, or sqlite:PATH[?synchronous=full|normal]."""

    engine: Engine
    place: str
    options: Mapping[str, str]

    def __str__(self) -> str:
        options = "&".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.engine}:{self.place}" + (f"?{options}" if options else "")


_OPTIONS: Mapping[Engine, Mapping[str, tuple[str, ...]]] = {
    Engine.MEMORY: {},
    Engine.SQLITE: {"synchronous": ("full", "normal")},
}


def parse_store_url(text: str) -> StoreUrl:
    """Return `text` as a store URL; an engine or option that is not there is Invalid."""
    scheme, colon, rest = text.partition(":")
    try:
        engine = Engine(scheme)
    except ValueError:
        raise Invalid("store URL", text, "use memory: or sqlite:PATH") from None
    if not colon:
        raise Invalid("store URL", text, "use memory: or sqlite:PATH")
    place, _, query = rest.partition("?")
    if engine is Engine.SQLITE and (not place or "\0" in place):
        raise Invalid("store URL", text, "name a file: sqlite:PATH")
    options: dict[str, str] = {}
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        allowed = _OPTIONS[engine].get(name)
        if allowed is None or value not in allowed:
            known = "; ".join(f"{known}={'|'.join(values)}" for known, values in _OPTIONS[engine].items())
            raise Invalid("store option", pair, f"known are: {known or 'none'}")
        options[name] = value
    return StoreUrl(engine, place, options)
