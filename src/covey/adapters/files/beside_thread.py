"""A thread for what is done while the disk is waited for."""

from queue import SimpleQueue
from threading import Thread

from covey.adapters.files.beside import Work


class BesideThread:
    """`Beside` on a thread of its own."""

    def __init__(self, name: str) -> None:
        self._works: SimpleQueue[Work | None] = SimpleQueue()
        self._over: SimpleQueue[BaseException | None] = SimpleQueue()
        self._is_begun = False
        Thread(target=self._work, name=name, daemon=True).start()

    def begin(self, work: Work) -> None:
        self.end()
        self._is_begun = True
        self._works.put(work)

    def end(self) -> None:
        if self._is_begun:
            error = self._over.get()
            self._is_begun = False
            if error is not None:
                raise error

    def close(self) -> None:
        self._works.put(None)

    def _work(self) -> None:
        while (work := self._works.get()) is not None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - it is raised where it is to be over
                self._over.put(error)
            else:
                self._over.put(None)
