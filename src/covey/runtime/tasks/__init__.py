"""Workers: take the tasks of an agent as they come, handle each, and hand in the outcome."""
