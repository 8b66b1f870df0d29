"""Attention: showing pending messages to a model, and the evidence that they arrived."""
