"""The command line: `covey VERB …` for people, scripts and hooks."""
