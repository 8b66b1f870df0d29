"""The agent-scoped view: a space as the holder of one agent's token may see and change it."""
