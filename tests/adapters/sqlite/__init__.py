"""Tests of the SQLite adapter beyond its contracts."""
