"""Channels to people: signed posts over HTTP, and lines on a console."""
