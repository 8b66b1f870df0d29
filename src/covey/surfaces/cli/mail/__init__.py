"""Verbs of mail: sending and asking, the inbox, showing messages, and settling them."""
