"""Verbs, one a module: `arguments(parser)` declares the arguments, `run(call)` runs it and returns the exit code."""
