"""Attention: showing pending messages to a model as offers with leases, and the evidence that they arrived."""
