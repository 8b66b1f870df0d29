"""Full-text search, with an index in its own file beside the store."""
