"""Verbs of tasks: delegating, listing, showing, moving and doing them, with their views."""
