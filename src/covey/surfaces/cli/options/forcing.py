"""Forcing a gate: pass it although answers are owed, with a reason."""

from argparse import ArgumentParser, Namespace

from covey.core.errors import Invalid


def add_forcing(parser: ArgumentParser) -> None:
    """Add the arguments that force a gate."""
    parser.add_argument("--force-commit-phase", action="store_true", help="pass whatever is owed; it is journalled")
    parser.add_argument("--why", metavar="REASON", help="why it is forced")


def reason(options: Namespace) -> str | None:
    """Return the reason for forcing a gate, or None if it is not forced."""
    why: str | None = options.why
    if options.force_commit_phase and not (why and why.strip()):
        raise Invalid("--why", why, "forcing the gate needs a reason")
    if why is not None and not options.force_commit_phase:
        raise Invalid("--why", why, "it is for --force-commit-phase")
    return why
