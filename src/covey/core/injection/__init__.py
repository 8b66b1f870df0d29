"""Injection: pending messages put into a request for a model, for each provider's form of messages."""
