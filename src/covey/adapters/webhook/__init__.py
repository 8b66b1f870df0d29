"""Signed posts over HTTP, for receivers of several styles."""

from covey.adapters.webhook.channel import WebhookChannel

__all__ = ["WebhookChannel"]
