"""What Covey decides: pure functions and immutable values; no I/O, no clock, no randomness."""
