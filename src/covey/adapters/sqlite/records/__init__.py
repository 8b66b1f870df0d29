"""Records in SQLite: one module for each kind, over the tables of the schema."""
