"""The notebook: a disposable database of the known files and their places."""
