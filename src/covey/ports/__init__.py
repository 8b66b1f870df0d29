"""What Covey needs from the world, by role. The docstrings are the specification; covey.testing has the contracts."""
