"""The runtime folder: a short, private folder for sockets, on which all processes of a user agree."""

import os
import stat
from collections.abc import Mapping
from typing import Final

from covey.core.errors import Unavailable

try:  # the same function; hashlib loads OpenSSL, which costs a short-lived process time
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

MAX_SOCKET_PATH: Final = 103
"""The longest path of a socket in bytes: 103 on macOS, 107 on Linux."""

_LONGEST_BELOW: Final = len("/123456789abc/0123456789abcdef/12345678")


class RuntimeFolderUnusable(Unavailable):
    """The folder for wake-ups is not private, can't be made, or has too long a path."""

    code = "runtime-folder-unusable"
    retryable = False
    advice = "Set COVEY_RUNTIME_DIR to a short absolute path of a folder that is yours alone (mode 0700)."

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(f"the runtime folder {folder} can't be used: {reason}", folder=folder, reason=reason)


def runtime_folder(environ: Mapping[str, str]) -> str:
    """Return the runtime folder of this user.

    It depends on no variable but COVEY_RUNTIME_DIR, so that a cron job and a login shell agree.
    """
    chosen = environ.get("COVEY_RUNTIME_DIR")
    if chosen:
        return chosen
    user = os.geteuid()
    parent = f"/run/user/{user}"
    try:
        is_ours = os.stat(parent).st_uid == user and os.access(parent, os.W_OK)
    except OSError:
        is_ours = False
    return f"{parent}/covey" if is_ours else f"/tmp/covey-{user}"


def space_folder(runtime: str, store: str) -> str:
    """Return the folder of a space, named by a digest of the store's real path."""
    return f"{runtime}/{_digest(os.fsencode(os.path.realpath(store)), 6)}"


def topic_name(topic: str) -> str:
    """Return the digest that represents a topic in paths and datagrams."""
    return _digest(topic.encode("utf-8", "surrogatepass"), 8)


def make_private(runtime: str) -> None:
    """Make the runtime folder if it is missing. Raise RuntimeFolderUnusable if it can't be made, is not private, or its
    path is relative or too long."""
    check_path(runtime)
    try:
        os.makedirs(runtime, mode=0o700, exist_ok=True)
        flaw = privacy_flaw(runtime)
    except OSError as error:
        raise RuntimeFolderUnusable(runtime, error.strerror or str(error)) from error
    if flaw is not None:
        raise RuntimeFolderUnusable(runtime, flaw)


def check_path(runtime: str) -> None:
    """Raise RuntimeFolderUnusable if the path is relative, or too long for sockets below it."""
    if not os.path.isabs(runtime):
        raise RuntimeFolderUnusable(runtime, "the path is not absolute")
    if len(os.fsencode(runtime)) + _LONGEST_BELOW > MAX_SOCKET_PATH:
        raise RuntimeFolderUnusable(runtime, f"its path is over {MAX_SOCKET_PATH - _LONGEST_BELOW} bytes")


def privacy_flaw(folder: str) -> str | None:
    """Return the reason why other users could interfere with the folder; None if they can't."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        return "it is a symbolic link or no folder"
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    if status.st_mode & 0o077:
        return "others have rights on it"
    return None


def _digest(data: bytes, size: int) -> str:
    return blake2b(data, digest_size=size).hexdigest()
