"""Warnings: log messages for the person who runs the program."""


def warn(text: str, *values: object) -> None:
    """Log a warning as `covey`."""
    # Imported late: a short-lived program with nothing to warn of can't afford it.
    from logging import getLogger

    getLogger("covey").warning(text, *values)


def debug(text: str, *values: object) -> None:
    """Log a detail for debugging."""
    from logging import getLogger

    getLogger("covey").debug(text, *values)
