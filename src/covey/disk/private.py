"""Files that are their owner's alone from the first moment."""

# Light to import: short-lived programs come this way.

import os


def private(file: str, _flags: int) -> int:
    """Open a file anew to write to it, for `open`: what it had is gone, and a link is not followed."""
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def private_new(file: str, _flags: int) -> int:
    """Open a file that is not there yet to write to it, for `open`."""
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def write_new(path: str, content: bytes) -> None:
    """Write a file, unless there is one."""
    try:
        descriptor = private_new(path, os.O_WRONLY)
    except FileExistsError:
        return
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)
