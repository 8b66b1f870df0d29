"""Both outputs of a program: read as they come, kept, and passed on."""

import os
from typing import Final

from covey.adapters.process.guard import folder, frames
from covey.adapters.process.guard.child import Child
from covey.adapters.process.guard.live import Live
from covey.adapters.process.guard.output import Keeper

_PIECE: Final = 65536


class Outputs:
    """What a program prints."""

    def __init__(self, child: Child, place: str, limit: int, live: Live) -> None:
        stdout, stderr = (Keeper(os.path.join(place, name), limit) for name in (folder.STDOUT, folder.STDERR))
        self._live = live
        self._open = {child.stdout: (stdout, frames.OUT), child.stderr: (stderr, frames.ERR)}
        self._keepers = {folder.STDOUT: stdout, folder.STDERR: stderr}

    @property
    def open(self) -> list[int]:
        """The descriptors on which more may come."""
        return [*self._open]

    def read(self, descriptor: int) -> bool:
        """Take what is there, up to a piece; tell whether there may be more."""
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return False
        keeper, kind = self._open[descriptor]
        if piece:
            keeper.add(piece)
            self._live.show(kind, piece)
        else:
            os.close(descriptor)
            del self._open[descriptor]
        return bool(piece)

    def close(self) -> dict[str, int]:
        """Take the rest, keep it, and return how many bytes there were of each output."""
        for descriptor in self.open:
            while self.read(descriptor):
                pass
        for keeper in self._keepers.values():
            keeper.close()
        return {name: keeper.total for name, keeper in self._keepers.items()}
