"""The command as a process of its own: one that lives for some milliseconds does not clear up behind itself."""

import gc

COLLECT_AFTER = 100_000
"""How many more objects there must be before garbage is looked for. A short command makes fewer; one that stays is
still cleared, in larger steps."""


def run() -> int:
    """Run the command that stands on the command line; return its exit code."""
    gc.set_threshold(COLLECT_AFTER)  # before the imports: they make tens of thousands of objects, and all are kept
    from covey.surfaces.cli.main import main

    code = main()
    gc.freeze()  # the interpreter would look through everything once more before it ends
    return code
