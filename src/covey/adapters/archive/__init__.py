"""Backups as tar files."""
