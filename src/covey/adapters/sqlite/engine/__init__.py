"""The engine: connections, SQL statements, the writer lock, migrations, and the state of the files."""
