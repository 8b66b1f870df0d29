"""The mirror: a folder that foreign programs share, kept in step with the ledger."""
