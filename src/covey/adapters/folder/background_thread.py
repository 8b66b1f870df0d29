"""A background thread for work that overlaps with waiting for the disk."""

from functools import partial
from queue import SimpleQueue

from covey.adapters.folder.atomic import Work
from covey.threads import WorkerThread


class BackgroundThread:
    """`BackgroundWorker` on a thread of its own."""

    def __init__(self, name: str) -> None:
        self._over: SimpleQueue[BaseException | None] = SimpleQueue()
        self._is_begun = False
        self._thread = WorkerThread(name)

    def begin(self, work: Work) -> None:
        self.end()
        self._is_begun = True
        self._thread.run(partial(self._work, work))

    def end(self) -> None:
        if self._is_begun:
            error = self._over.get()
            self._is_begun = False
            if error is not None:
                raise error

    def close(self) -> None:
        self._thread.end()

    def _work(self, work: Work) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - `end` raises it
            self._over.put(error)
        else:
            self._over.put(None)
