"""The command line: `covey VERB …` for people, scripts and hooks.

`catalogue` names the home of each verb, and `main` loads only that module. The verbs are in packages by purpose, each
with the views that only its verbs use. `options`, `views` and `terminal` hold the parts that several packages share.
"""
