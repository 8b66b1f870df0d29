"""The terminal: safe text, tables, colour, layout and progress for a person; JSON for a program."""
