"""Attention: the pending messages of a session, their order, and how many of them fit a budget."""
