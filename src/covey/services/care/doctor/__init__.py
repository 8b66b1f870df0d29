"""The doctor: one examination for each area of a space."""
