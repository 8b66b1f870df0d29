"""SQLite connections in a forked child: they belong to the parent, and the child never touches them.

If a child frees an inherited connection, SQLite rolls back in the memory that the child shares with its parent, and
damages a transaction of the parent that is under way. So the child keeps every inherited connection for as long as it
lives, even while the interpreter ends.
"""

import sys
from typing import Any


def keep_connections() -> None:
    """Keep all connections of the process that this one was forked from. This is for `os.register_at_fork`; calling it
    again does no harm."""
    apsw: Any = sys.modules.get("apsw")
    if apsw is None:
        return
    connections: list[object] = apsw.connections()
    if connections:
        import ctypes  # imported late because only the child of a process with an open database needs it

        # One reference more than there are owners: an object that is never freed is never closed. The module is kept
        # too, because it closes the remaining connections when it is freed.
        for kept in (apsw, *connections):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
