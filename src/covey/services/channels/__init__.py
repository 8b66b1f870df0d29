"""Channels: conversations with people, their bindings, and the outbox of posts that carry messages to them."""
