"""Adapters: implementations of the ports, one technology each."""
