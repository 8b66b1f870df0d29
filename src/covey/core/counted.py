"""Counted things, in words."""


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a number with what it counts: `1 message`, `2,000 messages`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
