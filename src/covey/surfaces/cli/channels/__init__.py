"""Channels at work: what carries posts to people, and what hears what they say."""
