"""The command as a process of its own, tuned for a life of some milliseconds: it skips garbage collection."""

import gc

COLLECT_AFTER = 100_000
"""Number of new objects before a garbage collection.

A short command makes fewer. A long one is still collected, in larger steps.
"""


def run() -> int:
    """Run the command of the command line and return its exit code."""
    gc.set_threshold(COLLECT_AFTER)  # set before the imports, which make tens of thousands of objects that are all kept
    from covey.surfaces.cli.main import main

    code = main()
    gc.freeze()  # otherwise the interpreter would scan all objects once more at exit
    return code
