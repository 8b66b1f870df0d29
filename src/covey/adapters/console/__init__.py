"""Posts as lines on a stream, for a person who reads it."""

from covey.adapters.console.channel import ConsoleChannel

__all__ = ["ConsoleChannel"]
