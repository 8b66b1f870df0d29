"""A space in one SQLite file, shared by the processes of one machine without a daemon.

`transactions.store.SqliteStore` is for commands and hooks: it works in the calling thread and never suspends.
`transactions.group.GroupCommit` is for programs with an event loop: it has a thread for writes and a thread for reads.
Both use the same file format. Only apsw may open the file: another SQLite library in the same process would drop its
locks.
"""
