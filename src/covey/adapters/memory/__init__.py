"""A space in the memory of one process, for tests and for agents that start and end together."""

from covey.adapters.memory.blobs import MemoryBlobs, MemoryPages
from covey.adapters.memory.machine import MemoryLiveness, MemoryWakeups
from covey.adapters.memory.search import MemorySearch
from covey.adapters.memory.store import MemoryStore
from covey.adapters.memory.views import MemoryViews

__all__ = [
    "MemoryBlobs",
    "MemoryLiveness",
    "MemoryPages",
    "MemorySearch",
    "MemoryStore",
    "MemoryViews",
    "MemoryWakeups",
]
