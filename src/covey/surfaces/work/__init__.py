"""An agent on duty: a program is run for each of its tasks."""
