"""Storms: budgets of causal trees, exchanges that keep each other going, echoes, and stops."""
