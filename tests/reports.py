"""Progress reports of a long operation, recorded."""


class Reports(list[tuple[str, int, int | None]]):
    """A `Report` callback that records every call."""

    def __call__(self, what: str, done: int, total: int | None) -> None:
        self.append((what, done, total))
