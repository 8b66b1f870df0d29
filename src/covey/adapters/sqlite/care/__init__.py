"""Care of the database file: checkup, snapshots, restore, salvage, pages and views."""
