"""Channels at work: carriers of posts to people, and listeners for their replies."""
