"""The socket of a listening process, and the links to it, one for each topic."""

import atexit
import os
import socket
import time
from typing import Final

from covey.adapters.doorbell.ringer import remove, remove_link
from covey.adapters.doorbell.runtime_folder import make_private

_TRIES: Final = 100
_HALF_MADE_AGE_S: Final = 60.0
_NAME_LENGTH: Final = 8
_TOPIC_LENGTH: Final = 16


class ListeningSocket:
    """A bound socket. Its files are removed when the socket is closed or the process ends; after a SIGKILL other
    processes remove them."""

    def __init__(self, runtime: str, space: str) -> None:
        make_private(runtime)
        self._space = space
        self._topics: set[str] = set()
        self._pid = os.getpid()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        try:
            self.name = _bind(self.socket, space)
        except BaseException:
            self.socket.close()
            raise
        atexit.register(self.close)
        sweep(space)

    @property
    def is_own(self) -> bool:
        """True if this process opened the socket, and not a process that this one was forked from."""
        return self._pid == os.getpid()

    @property
    def is_in_place(self) -> bool:
        """True if the socket's file still exists: some systems clean their temporary folders."""
        return os.path.exists(f"{self._space}/p/{self.name}")

    def link(self, topic: str) -> None:
        """Make a link from the topic to this socket. Raise FileNotFoundError if the folder of the space was removed."""
        folder = f"{self._space}/{topic}"
        for _ in range(_TRIES):
            _make_folder(folder)
            try:
                os.symlink(f"../p/{self.name}", f"{folder}/{self.name}")
            except FileExistsError:
                pass
            except FileNotFoundError:
                continue  # the last listener left at this moment and removed the folder
            self._topics.add(topic)
            return
        raise FileNotFoundError(folder)

    def unlink(self, topic: str) -> None:
        self._topics.discard(topic)
        remove_link(f"{self._space}/{topic}", self.name)

    def close(self) -> None:
        """Remove the links, then the socket: a process that finds a dead socket can find its links."""
        atexit.unregister(self.close)
        self.socket.close()
        if self.is_own:
            for topic in tuple(self._topics):
                self.unlink(topic)
            remove(f"{self._space}/p/{self.name}")
            _remove_folder(f"{self._space}/p")
            _remove_folder(self._space)


def sweep(space: str) -> None:
    """Remove the sockets of killed processes, and all links to them. Files that can't be removed stay."""
    try:
        _sweep(space)
    except OSError:
        return


def dead_sockets(space: str) -> set[str]:
    """Return the names of the sockets of dead processes."""
    return {name for name in names_in(f"{space}/p") if _is_dead(f"{space}/p/{name}")}


def topics_in(space: str) -> list[str]:
    """Return the topics with a listener, or with links of a killed one."""
    return [name for name in names_in(space) if len(name) == _TOPIC_LENGTH]


def names_in(folder: str) -> list[str]:
    """Return the names in a folder; none if the folder is gone."""
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _sweep(space: str) -> None:
    dead = dead_sockets(space)
    if not dead:
        return
    for topic in topics_in(space):
        for name in dead & set(names_in(f"{space}/{topic}")):
            remove_link(f"{space}/{topic}", name)
    for name in dead:
        remove(f"{space}/p/{name}")


def _bind(listener: socket.socket, space: str) -> str:
    for _ in range(_TRIES):
        name = os.urandom(_NAME_LENGTH // 2).hex()
        half_made = f"{space}/p/.{name}"
        try:
            _make_folder(space)
            _make_folder(f"{space}/p")
            # While a socket is being bound, it refuses connections like a dead one. Under its hidden name, no process
            # takes it for a live or a dead one.
            listener.bind(half_made)
            os.rename(half_made, f"{space}/p/{name}")
        except FileNotFoundError:
            continue  # the last listening process closed at this moment and removed the folder
        return name
    raise FileNotFoundError(space)


def _is_dead(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            return not os.path.basename(path).startswith(".") or _age_s(path) > _HALF_MADE_AGE_S
        except OSError:
            return False
    return False


def _age_s(path: str) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _make_folder(folder: str) -> None:
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return


def _remove_folder(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        return  # it has other entries
