"""Folders that people and foreign programs read and write beside us: whole files, a notebook, what changed."""
