"""Store URLs: the scheme of the engine that keeps a space, the place of the space, and options.

Their syntax is here. What a scheme, a place and an option mean is the business of the engine (`covey.engines`).
"""

from collections.abc import Mapping, Sequence
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


class StoreUrl(NamedTuple):
    """SCHEME:PLACE[?NAME=VALUE[&NAME=VALUE…]], as an engine has parsed it."""

    scheme: str
    place: str
    """The part between the scheme and the options."""
    options: Mapping[str, str]
    is_server: bool = False
    """Whether the place is //[LOGIN@]HOST…, which may have a secret in it."""

    def __str__(self) -> str:
        """The URL without a login."""
        return without_login(self.with_login()) if self.is_server else self.with_login()

    def __repr__(self) -> str:
        return f"StoreUrl({str(self)!r})"

    def with_login(self) -> str:
        """Return the URL with its login, if any, for a process that is to open the same space."""
        options = "&".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.scheme}:{self.place}" + (f"?{options}" if options else "")


class UrlParts(NamedTuple):
    """The parts of a store URL, as they are written."""

    scheme: str | None
    """None if the text has no colon."""
    place: str
    query: str


def split_store_url(text: str) -> UrlParts:
    """Return the parts of a store URL. None of them is checked."""
    scheme, colon, rest = text.partition(":")
    place, _, query = rest.partition("?")
    return UrlParts(scheme if colon else None, place, query)


def parse_options(query: str, known: Mapping[str, Sequence[str]] | None = None) -> Mapping[str, str]:
    """Return the options of a store URL by name. With `known`, the values that each option may have, every other option
    is Invalid."""
    options: dict[str, str] = {}
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        if known is not None and value not in known.get(name, ()):
            listed = "; ".join(f"{known_name}={'|'.join(values)}" for known_name, values in known.items())
            raise Invalid("store option", pair, f"the known options are: {listed or 'none'}")
        options[name] = value
    return options


def without_login(url: str) -> str:
    """Return the URL of a server without its login, if any, so that it can be shown."""
    before, slashes, rest = url.partition("//")
    return f"{before}//{rest.rpartition('@')[2]}" if slashes else url
