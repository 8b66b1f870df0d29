"""Folders that people and foreign programs share with a space: reading, writing and watching them."""
