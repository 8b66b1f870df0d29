"""Tests of covey.testing."""
