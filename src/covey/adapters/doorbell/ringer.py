"""Ringing of topics: one datagram to each listening process, without an event loop and without blocking."""

import os
from _socket import AF_UNIX, SOCK_DGRAM, socket
from _thread import allocate_lock
from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager

from covey.adapters.doorbell.runtime_folder import privacy_flaw, space_folder, topic_name
from covey.core.names import Topic
from covey.ports.clock import Bell

# The C module under `socket`: ringing needs none of the modules that `socket` imports.


class DoorbellRinger:
    """The ringing half of `Wakeups`. Safe for several threads. Without listeners, a ring costs one failed listing of a
    folder for each topic."""

    def __init__(self, store: str, runtime: str) -> None:
        self._runtime = runtime
        self._space = space_folder(runtime, store)
        self._sender: socket | None = None
        self._is_private = False
        self._is_closed = False
        self._guard = allocate_lock()
        self._pid = os.getpid()

    def ring(self, topics: Collection[Topic]) -> None:
        self.ring_besides([topic_name(topic) for topic in topics], ())

    def ring_besides(self, names: Collection[str], known: Collection[str]) -> None:
        """Ring topics by their names, except at the sockets in `known`, whose listeners the caller rings directly."""
        for name in names:
            folder = f"{self._space}/{name}"
            try:
                listeners = os.listdir(folder)
            except OSError:
                continue
            if known:
                listeners = [listener for listener in listeners if listener not in known]
            if not listeners:
                continue
            if self._pid != os.getpid():
                # A forked child: another thread of the parent may have held the lock.
                self._guard = allocate_lock()
                self._pid = os.getpid()
            with self._guard:
                self._knock(folder, listeners, name.encode())

    def close(self) -> None:
        """Close the socket. Later rings have no effect."""
        with self._guard:
            self._is_closed = True
            if self._sender is not None:
                self._sender.close()

    def _knock(self, folder: str, listeners: Sequence[str], name: bytes) -> None:
        try:
            # In a folder that other users can write to, links could lead to any socket.
            self._is_private = self._is_private or privacy_flaw(self._runtime) is None
            if self._is_closed or not self._is_private:
                return
            sender = self._sender = self._sender or _open_sender()
        except OSError:
            return  # no free descriptor: the ring is lost, which the port allows
        for listener in listeners:
            path = f"{folder}/{listener}"
            try:
                _send(sender, name, path)
            except ConnectionRefusedError:
                remove_link(folder, listener)
            except FileNotFoundError:
                # A missing link may come back in a moment, a socket never does.
                if not os.path.lexists(f"{self._space}/p/{listener}"):
                    remove_link(folder, listener)
            except OSError:
                continue


def remove_link(folder: str, listener: str) -> None:
    """Remove the link to a process from a topic's folder, and the folder with its last link."""
    remove(f"{folder}/{listener}")
    try:
        os.rmdir(folder)
    except OSError:
        return  # it has other links


def remove(path: str) -> None:
    """Remove a file if it exists and can be removed."""
    try:
        os.unlink(path)
    except OSError:
        return


def _open_sender() -> socket:
    sender = socket(AF_UNIX, SOCK_DGRAM)
    sender.setblocking(False)
    return sender


def _send(sender: socket, name: bytes, path: str) -> None:
    try:
        sender.sendto(name, path)
    except BlockingIOError:
        # Either the queue of the listener is full, or so many of our datagrams are unread elsewhere that this socket
        # may send no more. A new socket tells the two cases apart.
        fresh = _open_sender()
        try:
            fresh.sendto(name, path)
        finally:
            fresh.close()


class RingOnly:
    """`Wakeups` without an event loop: `listen` is a programming error."""

    def __init__(self, store: str, runtime: str) -> None:
        self._ringer = DoorbellRinger(store, runtime)

    def ring(self, topics: Collection[Topic]) -> None:
        self._ringer.ring(topics)

    def listen(self, topics: Collection[Topic]) -> AbstractAsyncContextManager[Bell]:
        raise RuntimeError(f"waiting for {', '.join(topics)} needs an event loop: use Engine.connect")

    async def close(self) -> None:
        self._ringer.close()
