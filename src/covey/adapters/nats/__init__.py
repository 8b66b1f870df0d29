"""Spaces on NATS JetStream: many machines, one log."""
