"""The engine of a store: the forms of its URLs, its capabilities, and the adapters that it provides."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import covey.ports as ports
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import StoreUrl


class EngineCapabilities(NamedTuple):
    """The differences between engines that a program has to know before it opens a space. `Store.capabilities` has
    those of an open store, and agrees with these."""

    is_shared: bool
    """Several processes can open the same space."""
    is_lasting: bool
    """The space outlives the process that created it."""
    has_accounts: bool = False
    """The credentials for the store may belong to an agent: `Ports.author` then names that agent."""


class UrlForm(Protocol):
    """The URLs of one engine."""

    @property
    def usage(self) -> str:
        """The form of the URLs in a few characters, as errors show it: `sqlite:PATH`."""
        ...

    def parse(self, text: str) -> StoreUrl:
        """Parse a URL with a scheme of this engine; raise Invalid for an unusable place or option. Nothing is
        opened."""
        ...

    def absolute(self, url: StoreUrl) -> StoreUrl:
        """Return the URL of the same space that is valid in every working directory."""
        ...

    def for_new(self, url: StoreUrl) -> StoreUrl:
        """Return the URL with all the options that a new space needs."""
        ...


class Engine(UrlForm, Protocol):
    """The spaces of one kind of store. An engine has no state: each method gets the URL of a space, as `parse` returned
    it.

    If the driver is not installed, ExtraMissing is raised when a space is opened or looked for.
    """

    @property
    def capabilities(self) -> EngineCapabilities: ...

    @property
    def care(self) -> "ports.Care":
        """The examination, cleaning, copying and restoring of spaces. An engine without these has a
        `covey.engines.no_care.NoCare`."""
        ...

    def is_there(self, url: StoreUrl) -> bool:
        """Tell whether there is a space, without creating one. A path that names something else counts too: opening it
        reports the error."""
        ...

    def has_messages(self, url: StoreUrl) -> bool:
        """Tell whether an opened space could have messages: the space exists, or other programs have filled its
        place."""
        ...

    def ledger_path(self, url: StoreUrl) -> str | None:
        """Return the absolute path of the ledger's file on this machine; its folder has the other files of the space.
        None if nothing of the space is kept on this machine."""
        ...

    def connect(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        """Return the adapters of a space for a program with an event loop.

        A missing space is created, at the latest when the adapters are first used. Files may be attached from beneath
        `roots`. Long work that comes first is reported, on any thread.
        """
        ...

    def connect_inline(self, url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
        """Return the adapters of a space for a short command, like `connect`.

        They work in the calling thread and never suspend, so that no event loop is needed. Their wake-ups ring, but
        need not listen. An engine should import each module when its adapter is first used.
        """
        ...
