"""Formats on the wire and on disk: messages as JSON, exports, shared folders, the peers' wire, NATS subjects."""
