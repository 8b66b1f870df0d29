"""Toolkits: sets of tools for a model, each tool written once."""
