"""The engines that the tests of a contract cover, and the number of tests of each contract."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol

from covey.testing import contracts
from tests.nats.servers import one_node, three_nodes


class Server(Protocol):
    @property
    def url(self) -> str: ...


MEMORY: Final = "memory"
SQLITE: Final = "sqlite"
DIALOGUE: Final = "files, dialogue"
MAILBOX: Final = "files, mailbox"
ONE_NODE: Final = "nats, one node"
THREE_NODES: Final = "nats, three nodes"

URLS: Final[Mapping[str, str]] = {
    MEMORY: "memory:",
    SQLITE: "sqlite:{folder}/covey.db",
    DIALOGUE: "files:{folder}?layout=dialogue",
    MAILBOX: "files:{folder}?layout=mailbox",
    ONE_NODE: "{server}/space?cache={folder}",
    THREE_NODES: "{server}/space?cache={folder}",
}
"""The URL by which each engine is opened."""

SERVERS: Final[Mapping[str, Callable[[Path], AbstractContextManager[Server]]]] = {
    ONE_NODE: one_node,
    THREE_NODES: three_nodes,
}
"""Servers that some engines need. Each keeps its files in a folder."""

MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "test_memory": (MEMORY,),
    "test_sqlite": (SQLITE,),
    "test_one_machine": (SQLITE,),
    "test_files": (DIALOGUE, MAILBOX),
    "test_files_beside": (DIALOGUE, MAILBOX),
    "test_files_wakeups": (DIALOGUE, MAILBOX),
    "test_nats": (ONE_NODE,),
    "test_nats_three": (THREE_NODES,),
    "test_nats_server": (ONE_NODE, THREE_NODES),
}
"""The engines that the tests of a module cover. If there are several, a parameter names the one."""

ALSO: Final[Mapping[str, tuple[str, ...]]] = {
    "ClockContract": (MEMORY, DIALOGUE, MAILBOX, ONE_NODE, THREE_NODES),
    "IdsContract": (MEMORY, DIALOGUE, MAILBOX, ONE_NODE, THREE_NODES),
    "BlobsContract": (DIALOGUE, MAILBOX),
    "BlobUpkeepContract": (DIALOGUE, MAILBOX),
    "LivenessContract": (DIALOGUE, MAILBOX),
    "SharedLivenessContract": (DIALOGUE, MAILBOX),
    "WakeupsContract": (ONE_NODE, THREE_NODES),
    "SharedWakeupsContract": (ONE_NODE, THREE_NODES),
}
"""Other engines that use the same adapter of one machine, which test_one_machine covers."""


def contracts_of(module: str) -> Mapping[str, str]:
    """Return the classes of tests in a module, each with its contract."""
    names = {getattr(contracts, name): name for name in contracts.__all__ if name.endswith("Contract")}
    classes = vars(import_module(f"tests.contracts.{module}"))
    return {
        name: names[base]
        for name, tests in classes.items()
        if name.startswith("Test") and isinstance(tests, type)
        for base in tests.__bases__
        if base in names
    }


def sentences(contract: str) -> frozenset[str]:
    """Return the names of the tests of a contract."""
    return frozenset(name for name in dir(getattr(contracts, contract)) if name.startswith("test_"))


def engines_of(module: str, contract: str, parameters: str = "") -> Iterable[str]:
    """Return the engines that a test covers."""
    engines = MODULES[module]
    if len(engines) > 1 and parameters:
        words = parameters.split("-")
        engines = tuple(engine for engine in engines if any(word.startswith(_variant(engine)) for word in words))
    return (*engines, *(ALSO.get(contract, ()) if module == "test_one_machine" else ()))


def _variant(engine: str) -> str:
    """Return the word by which parameters name an engine: `mailbox`, `three`."""
    return engine.partition(", ")[2].split()[0]


def expected() -> Mapping[str, frozenset[str]]:
    """Return the engines on which each contract is tested here."""
    found: dict[str, set[str]] = {}
    for module in MODULES:
        for contract in contracts_of(module).values():
            found.setdefault(contract, set()).update(engines_of(module, contract))
    return {contract: frozenset(found[contract]) for contract in contracts.__all__ if contract in found}
