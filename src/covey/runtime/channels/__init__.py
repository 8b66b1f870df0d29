"""Channels at work: pumps carry posts to people, and a listener takes in what people say."""
