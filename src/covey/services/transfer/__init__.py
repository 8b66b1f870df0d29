"""Transfers: exports, imports, and moves of a space from one store to another."""
