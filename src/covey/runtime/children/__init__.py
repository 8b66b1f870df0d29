"""Children of this process: start their programs, supervise them, and record how they end."""
