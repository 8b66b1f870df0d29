"""Renderings of pending messages for a model, and the one place that makes foreign text harmless."""
