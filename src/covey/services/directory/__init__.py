"""The directory: agents, sessions, presence, credentials, client programs, policies and pauses."""
