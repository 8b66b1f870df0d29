"""Verbs of sessions and their children: `spawn`, `sessions`, `say` and `stop`, with their views."""
