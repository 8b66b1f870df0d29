"""What was reported of something long."""


class Reports(list[tuple[str, int, int | None]]):
    """`Report` that keeps everything."""

    def __call__(self, what: str, done: int, total: int | None) -> None:
        self.append((what, done, total))
