"""Clock, ids, files and liveness from the operating system."""
