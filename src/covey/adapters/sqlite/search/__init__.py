"""Full-text search in a file of its own beside the store."""
