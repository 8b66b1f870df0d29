"""Channels: where people are reached, whom a conversation is bound to, and the posts on their way."""
