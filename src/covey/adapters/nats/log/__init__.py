"""The log of a space on NATS: one stream, appended to in order."""
