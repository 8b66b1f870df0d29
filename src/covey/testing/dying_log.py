"""A log whose user dies where it is told: before a record is added, or once it is and nobody was told."""

from collections.abc import Callable, Sequence

from covey.ports.log import Entry, Hear, Log, LogState, Tell
from covey.ports.store import Survives
from covey.testing.dying import Died, Moment


class DyingLog:
    """Does what `log` does until its death at an addition, counted from 1. Without one it only counts."""

    def __init__(self, log: Log, addition: int = 0, moment: Moment = Moment.BEFORE) -> None:
        self._log = log
        self._addition = addition
        self._moment = moment
        self._is_dead = False
        self.name = log.name
        self.additions = 0

    @property
    def author(self) -> str | None:
        return self._log.author

    def survives(self) -> Survives:
        return self._log.survives()

    def state(self, at_least: int = 0) -> LogState | None:
        self._refuse_when_dead()
        return self._log.state(at_least)

    def make(self) -> None:
        self._refuse_when_dead()
        self._log.make()

    def append(self, record: bytes, expected: int, record_id: str) -> int | None:
        self._refuse_when_dead()
        self.additions += 1
        self._die_at(Moment.BEFORE)
        position = self._log.append(record, expected, record_id)
        self._die_at(Moment.AFTER)
        return position

    def offer(self, record: bytes, expected: int, record_id: str, tell: Tell) -> None:
        try:
            outcome = self.append(record, expected, record_id)
        except Died as death:
            outcome = death
        tell(outcome)

    def after(self, position: int, limit: int) -> Sequence[Entry] | None:
        self._refuse_when_dead()
        return self._log.after(position, limit)

    def listen(self, hear: Hear) -> Callable[[], None]:
        return self._log.listen(hear)

    def close(self) -> None:
        self._log.close()

    def _die_at(self, moment: Moment) -> None:
        self._is_dead = self._is_dead or (self.additions == self._addition and moment is self._moment)
        self._refuse_when_dead()

    def _refuse_when_dead(self) -> None:
        if self._is_dead:
            raise Died(f"died {self._moment} addition {self._addition}")
