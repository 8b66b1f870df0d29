"""Verbs that operate a space: limits, tokens, care, backups and transfer, and verbs that explain the command."""
