"""Counts as text: a number with the singular or plural of a noun."""


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: `1 message`, `2,000 messages`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
