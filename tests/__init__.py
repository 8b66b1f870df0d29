"""Tests, run by pytest; the helpers among them are imported as `tests.<module>`."""
