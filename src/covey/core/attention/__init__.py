"""Attention: the pending messages of a session, their order and budget, their renderings for a model, and their
injection into a request."""
