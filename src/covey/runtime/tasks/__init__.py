"""Workers, which take the tasks of an agent as they arrive, handle each, and hand in the outcome."""
