"""Channels: conversations with people, and the posts that carry messages to them."""
