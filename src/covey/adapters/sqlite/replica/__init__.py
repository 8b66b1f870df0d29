"""The replica: a SQLite store that follows a replicated log."""
