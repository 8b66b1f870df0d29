"""The notebook: a disposable database that remembers which file stands where."""
