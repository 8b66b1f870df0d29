"""Keys: what a person presses at a terminal while a verb goes on."""

import asyncio
import os
import sys
import termios
import tty
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def keys(key: str, pressed: Callable[[], None]) -> Generator[None]:
    """Call `pressed` once, when that key is pressed while the block runs. Keys are not shown meanwhile; Ctrl-C
    interrupts as ever. Where stdin is no terminal there are none."""
    if sys.stdin is None or not sys.stdin.isatty():
        yield
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    loop = asyncio.get_running_loop()

    def read() -> None:
        try:
            content = os.read(descriptor, 1024)
        except OSError:
            content = b""
        if not content or key.encode() in content.lower():  # nothing: the terminal is gone
            loop.remove_reader(descriptor)
            pressed()

    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, read)
    try:
        yield
    finally:
        loop.remove_reader(descriptor)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
