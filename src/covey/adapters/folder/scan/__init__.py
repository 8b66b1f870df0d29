"""Scans of a shared folder: listings, places of files that have moved, and a watch for changes."""
