"""Reaping: who of the children has ended, and how the program did."""

import os


class Reaper:
    """Reaps the children of this process; `status` is the program's, once it has ended."""

    def __init__(self, program: int) -> None:
        self._program = program
        self.status: int | None = None
        self.is_alone = False
        """Whether there is no child left."""

    def reap(self) -> bool:
        """Reap all that have ended, and tell whether there is no child left."""
        try:
            while ended := os.waitpid(-1, os.WNOHANG):
                pid, status = ended
                if not pid:
                    break
                if pid == self._program:
                    self.status = status
        except ChildProcessError:
            self.is_alone = True
        return self.is_alone
