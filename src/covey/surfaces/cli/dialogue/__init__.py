"""Verbs of a dialogue: owed answers, the gate, and the `messages-*` verbs of agent loops."""
