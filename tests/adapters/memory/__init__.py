"""Tests of the memory adapter beyond the contracts."""
