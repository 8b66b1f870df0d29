"""Warnings for whoever runs the program: what the rules did that somebody may want to know of."""


def warn(text: str, *values: object) -> None:
    """Log a warning as `covey`."""
    # Loaded only here: a short-lived program that has nothing to warn of can't afford it.
    from logging import getLogger

    getLogger("covey").warning(text, *values)


def debug(text: str, *values: object) -> None:
    """Log something that only who looks for it wants to know."""
    from logging import getLogger

    getLogger("covey").debug(text, *values)
