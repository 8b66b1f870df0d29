"""Children of this process: the start of their programs, their supervision, and the record of their ends."""
