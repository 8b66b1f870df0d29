"""Renderings of pending messages for a model: the styles, the budget of characters, and tasks."""
