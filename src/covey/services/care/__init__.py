"""Care of a space: audit, doctor, upkeep, history, retention and pruning, backup and restore."""
