"""Children: spawning, supervising and ending sessions that an agent started."""
