"""The operating system: clock, ids, liveness, files, and blobs as files."""
