"""Storms: checks that stop runaway exchanges, and the notices about them."""
