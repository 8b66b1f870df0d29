"""The keyboard: text that a person types at a terminal. Ctrl-C interrupts the wait for it at any moment.

A plain read of stdin can miss Ctrl-C: if the signal arrives just before the read starts, Python handles it only after
the read, which waits for a further key.
"""

import os
import select
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import current_thread, main_thread


def typed_line() -> str:
    """Return the next line; an empty string at the end of the input."""
    with _signals() as signals:
        _wait_for_input(signals)
        return sys.stdin.readline()


def typed_text(most: int) -> bytes:
    """Return everything up to Ctrl-D, or its first `most` bytes."""
    content = b""
    with _signals() as signals:
        while len(content) < most:
            _wait_for_input(signals)
            chunk = os.read(sys.stdin.fileno(), most - len(content))
            if not chunk:
                break
            content += chunk
    return content


def _wait_for_input(signals: int) -> None:
    """Block until stdin has a line or is at its end. A signal that arrived before the wait ends it, too.

    Ctrl-C raises KeyboardInterrupt. Any other signal with a handler is handled, and the wait goes on.
    """
    ready: list[int] = []
    while sys.stdin.fileno() not in ready:
        ready, _, _ = select.select([sys.stdin.fileno(), signals], [], [])
        if signals in ready:
            os.read(signals, 4096)


@contextmanager
def _signals() -> Generator[int]:
    """Provide a descriptor that becomes readable when a signal arrives.

    Python handles signals in the main thread alone: in any other thread the descriptor stays silent.
    """
    reader, writer = os.pipe()
    try:
        os.set_blocking(writer, False)
        if current_thread() is not main_thread():
            yield reader
            return
        before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        try:
            yield reader
        finally:
            signal.set_wakeup_fd(before)
    finally:
        os.close(reader)
        os.close(writer)
