"""A space in one SQLite file, shared by the processes of one machine without a daemon.

`store.SqliteStore` works in the calling thread and never suspends: for commands and hooks. `group.GroupCommit` has a
thread that writes and one that reads: for programs with an event loop. Both keep the same file in the same way. Nothing
but apsw may open that file: another SQLite library in the same process would drop its locks.
"""
