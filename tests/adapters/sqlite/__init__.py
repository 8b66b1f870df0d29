"""Tests of what the SQLite adapter adds to its contracts."""
