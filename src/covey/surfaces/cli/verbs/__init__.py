"""One verb a module: `arguments(parser)` declares what it takes, `run(call)` does it and returns the exit code."""
