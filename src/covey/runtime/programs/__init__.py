"""A program for each task of an agent: its folder, its prompt, and its output as a result."""
