"""The directory: agents, sessions, presence, credentials, client programs, and the settings of a space."""
