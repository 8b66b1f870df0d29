"""Care of a space: audit, doctor, upkeep, pruning, backup and restore."""
