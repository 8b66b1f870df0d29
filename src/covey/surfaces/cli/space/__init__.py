"""Verbs of a space: `init`, `join`, `leave`, `agents`, `pause` and `resume`."""
