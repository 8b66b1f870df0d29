"""The engine of a store: the forms of its URLs, its capabilities, and the adapters that it provides."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import covey.ports as ports
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import StoreUrl


class EngineCapabilities(NamedTuple):
    """The differences between engines that a program has to know before it opens a space. Those of an open store are
    `Store.capabilities`, and agree with these."""

    is_shared: bool
    """Several processes can open the same space."""
    is_lasting: bool
    """The space outlives the process that made it."""
    has_accounts: bool = False
    """The credentials for the store may be an agent's: `Ports.author` then says who acts."""


class UrlForm(Protocol):
    """The URLs of one engine."""

    @property
    def usage(self) -> str:
        """The form of the URLs in a few characters, as errors show it: `sqlite:PATH`."""
        ...

    def parse(self, text: str) -> StoreUrl:
        """Return a text with a scheme of this engine as a URL. A place or an option that can't be used is Invalid.
        Nothing is opened."""
        ...

    def absolute(self, url: StoreUrl) -> StoreUrl:
        """Return the URL of the same space that means the same in every folder."""
        ...

    def for_new(self, url: StoreUrl) -> StoreUrl:
        """Return the URL with all the options that a space needs which has yet to be made."""
        ...


class Engine(UrlForm, Protocol):
    """Opens the spaces of one kind of store. It has no state: each method is given the URL of a space, as `parse` has
    returned it.

    A driver that is not installed is ExtraMissing, when a space is opened or looked for.
    """

    @property
    def capabilities(self) -> EngineCapabilities: ...

    @property
    def care(self) -> "ports.Care":
        """Examines, cleans, copies and restores spaces. An engine that can do none of it has a
        `covey.engines.no_care.NoCare`."""
        ...

    def is_there(self, url: StoreUrl) -> bool:
        """Tell whether there is a space. Nothing is made. A path that names something else counts: opening it says what
        is wrong."""
        ...

    def has_messages(self, url: StoreUrl) -> bool:
        """Tell whether opening the space could find messages: it is there, or other programs have filled its place."""
        ...

    def ledger_path(self, url: StoreUrl) -> str | None:
        """Return the absolute path of the file of the ledger on this machine, whose folder has what else belongs to the
        space here; None if nothing of the space is kept on this machine."""
        ...

    def connect(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        """Return the adapters of a space for a program with an event loop. The space is made if it is not there; that
        may wait until the adapters are first used. Files may be attached from beneath `roots`. Long work that comes
        first is reported, on any thread."""
        ...

    def connect_inline(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        """Return the adapters of a space for a short command, like `connect`: they do everything in the calling thread
        and never suspend, so that no event loop is needed. They ring, but need not listen. Each module is best imported
        when its adapter is first used."""
        ...
