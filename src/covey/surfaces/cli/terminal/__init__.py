"""The terminal: tables, colour, live pages and progress for a person; JSON for a program."""
