"""Engines: one object for each kind of store, which is found by the scheme of a store URL.

    memory:    a space that ends with its process            covey.engines.memory
    sqlite:    a file that processes of one machine share    covey.engines.sqlite
    files:     the same, in a folder of messages as files    covey.engines.folder
    nats:      a replica on each machine, one log on servers covey.engines.nats      (and tls:)

A third party's engine is an `Engine` that a distribution names in the entry point group `covey.engines`, by its scheme:

    [project.entry-points."covey.engines"]
    shelf = "my_package.shelf:engine"

No other module of Covey branches on the kind of engine: it uses the ports and capabilities that the engine declares.
The module of an engine is imported when a URL names it, so that a short command does not wait for the other engines.
"""

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Final, cast

import covey.ports as ports
from covey.core.errors import Invalid
from covey.core.reporting import Report, report_nothing
from covey.core.store_url import STORE_FILE, STORE_FOLDER, StoreUrl, split_store_url, without_login
from covey.engines.engine import Engine

GROUP: Final = "covey.engines"
"""The group of entry points that names the engines of third parties."""
LAYOUT_FILE: Final = "layout"
"""A file beside the ledger of a folder that other programs share."""

BUILT_IN: Final = {
    "memory": "covey.engines.memory",
    "sqlite": "covey.engines.sqlite",
    "files": "covey.engines.folder",
    "nats": "covey.engines.nats",
    "tls": "covey.engines.nats",
}
"""The modules of the engines that come with Covey, by scheme; each has its engine as ENGINE."""


_third_party: Final[dict[str, Engine]] = {}
"""The engines of third parties that were found, by scheme: the metadata of all distributions is read once."""


def engine_of(url: StoreUrl) -> Engine:
    """Return the engine of a URL."""
    return _engine(url.scheme, str(url))


def parse_store_url(text: str) -> StoreUrl:
    """Parse a store URL; raise Invalid if no engine has its scheme, or its engine refuses the rest."""
    return _engine(split_store_url(text).scheme, without_login(text)).parse(text)


def connect(url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
    """Return the adapters of the space at a URL, for a program with an event loop (`Engine.connect`)."""
    return engine_of(url).connect(url, roots, report)


def connect_inline(url: StoreUrl, roots: Sequence[str], report: Report = report_nothing) -> "ports.Ports":
    """Return the adapters of the space at a URL, for a short command (`Engine.connect_inline`)."""
    return engine_of(url).connect_inline(url, roots, report)


def is_there(url: StoreUrl) -> bool:
    """Tell whether there is a space at a URL (`Engine.is_there`)."""
    return engine_of(url).is_there(url)


def home_of(url: StoreUrl) -> str | None:
    """Return the folder on this machine for the files of a space; None if the engine keeps none here."""
    path = engine_of(url).ledger_path(url)
    return None if path is None else os.path.dirname(path)


def locate(url: str | None = None) -> StoreUrl:
    """Return the URL of the space to use: `url`, COVEY_STORE, the nearest .covey upwards, or the one in the home
    directory."""
    given = url if url is not None else os.environ.get("COVEY_STORE")
    if given:
        return parse_store_url(given)
    folder = os.getcwd()
    while True:
        if os.path.exists(os.path.join(folder, STORE_FOLDER, STORE_FILE)):
            is_shared = os.path.exists(os.path.join(folder, STORE_FOLDER, LAYOUT_FILE))
            return StoreUrl("files", folder, {}) if is_shared else space_in(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return space_in(os.path.expanduser("~"))
        folder = parent


def space_in(folder: str) -> StoreUrl:
    """Return the URL of a folder's own space, which `covey init` creates."""
    return StoreUrl("sqlite", os.path.join(folder, STORE_FOLDER, STORE_FILE), {})


def is_fallback(url: StoreUrl) -> bool:
    """Tell whether this is the space of the home folder, and the working directory is another folder."""
    home_folder = os.path.realpath(os.path.expanduser("~"))
    path = engine_of(url).ledger_path(url)
    is_at_home = path is not None and os.path.realpath(path) == os.path.join(home_folder, STORE_FOLDER, STORE_FILE)
    return is_at_home and os.path.realpath(os.getcwd()) != home_folder


def _engine(scheme: str | None, shown: str) -> Engine:
    module = None if scheme is None else BUILT_IN.get(scheme)
    if module is not None:
        return import_module(module).ENGINE
    engine = None if scheme is None else _third_party.get(scheme) or _load(scheme)
    if engine is None:
        raise Invalid("store URL", shown, f"use {_usages()}")
    return engine


def _load(scheme: str) -> Engine | None:
    """Return the engine of a third party, or None if no distribution has one for the scheme."""
    point = _entry_points().get(scheme)
    if point is None:
        return None
    try:
        engine = cast(Engine, point.load())
    except (ImportError, AttributeError) as error:
        raise Invalid("store engine", scheme, f"{point.value} can't be loaded: {error}") from error
    _third_party[scheme] = engine
    return engine


def _entry_points():
    """Return the entry points of third parties' engines, by scheme. This reads the metadata of every distribution."""
    from importlib.metadata import entry_points  # imported late because it takes longer than a short command

    return {point.name: point for point in entry_points(group=GROUP)}


def _usages() -> str:
    """Return the URL forms of all engines; of third parties' engines only the schemes, without loading them."""
    built_in = dict.fromkeys(import_module(module).ENGINE.usage for module in BUILT_IN.values())
    *most, last = (*built_in, *(f"{scheme}:" for scheme in sorted(_entry_points()) if scheme not in BUILT_IN))
    return f"{', '.join(most)} or {last}"
