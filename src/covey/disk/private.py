"""Private files: files that only their owner can access, from their creation on."""

# Short-lived programs import this module, so it imports little.

import os


def private(file: str, _flags: int) -> int:
    """Open a file for writing and truncate it. This is an opener for `open`; it does not follow a link."""
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def private_new(file: str, _flags: int) -> int:
    """Create a file for writing. This is an opener for `open`; it fails if the file exists."""
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
