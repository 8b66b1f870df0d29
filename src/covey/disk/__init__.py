"""Disk primitives that adapters share: fsync, file locks, private files and safe reading."""
