"""Tasks: delegating, claiming, working on and finishing work."""
