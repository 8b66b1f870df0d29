"""Detection of changes in a shared folder: listings, freshness, and files that have moved."""
