"""Measurements: ratios against a raw baseline of the same run, as a table and as JSON."""
