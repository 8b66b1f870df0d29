"""Storms: checks that stop runaway exchanges, and the service that lists and lifts their stops."""
