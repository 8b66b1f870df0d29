"""Tests of the runtime layer."""
