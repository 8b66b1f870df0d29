"""Ways in: each surface translates and decides nothing."""
