"""The rules of Covey: pure functions and immutable values; no I/O, no clock, no randomness."""
