"""Tests of the pure core, by properties."""
