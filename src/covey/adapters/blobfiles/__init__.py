"""Blobs as files, named by the hash of their content."""
