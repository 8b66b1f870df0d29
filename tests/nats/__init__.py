"""Tests against real NATS servers."""
