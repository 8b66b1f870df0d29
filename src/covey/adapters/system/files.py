"""Files from declared folders, each read as a whole."""

import os
import re
from collections.abc import Sequence
from typing import Final

from covey.adapters.system.store_files import StoreFiles
from covey.core.errors import FileOffLimits, FileOutsideRoots, Invalid
from covey.core.store_url import APPLICATION_ID
from covey.disk.reading import NotReadable, read_beneath
from covey.ports.blobs import LoadedFile

_SECRET: Final = rb"[0-9a-f]{64}"
"""A secret of a space as text: 256 bits in hex."""

_CREDENTIALS: Final = (
    ("a token of a space", re.compile(rb"covey_" + _SECRET)),
    ("the secret of a session", re.compile(rb"-[0-9a-f]{12}:" + _SECRET)),
    ("a seed of NATS", re.compile(rb"SU[A-Z2-7]{56}(?![A-Z2-7])")),
)

_SQLITE: Final = b"SQLite format 3\0"
_MARK_AT: Final = 68
_MARK: Final = APPLICATION_ID.to_bytes(4, "big")


def why_private(content: bytes) -> str | None:
    """Return the reason why content is private, in words; None if the content is not private.

    Only formats of Covey itself are recognised. The secret of a channel has no format that could be recognised.
    """
    if content.startswith(_SQLITE) and content[_MARK_AT : _MARK_AT + len(_MARK)] == _MARK:
        return "it is the ledger of a space"
    found = next((words for words, form in _CREDENTIALS if form.search(content)), None)
    return None if found is None else f"there is {found} in it"


MAX_FILE_BYTES: Final = 64 * 1024 * 1024

STORE: Final = "it belongs to the store of a space"


class RootedFiles:
    """Reads files whose real path, links followed, is under one of the roots."""

    def __init__(self, roots: Sequence[str], store: StoreFiles) -> None:
        self._roots = [os.path.realpath(os.path.expanduser(root)) for root in roots]
        self._store = store

    async def load(self, path: str) -> LoadedFile:
        return self.read(path)

    async def load_beneath(self, folder: str, path: str) -> LoadedFile:
        return self.read_beneath(folder, path)

    def read(self, path: str) -> LoadedFile:
        """Like `load`, in the calling thread."""
        if "\0" in path:
            raise Invalid("file", path, "a path has no NUL")
        real = os.path.realpath(os.path.expanduser(path))
        roots = [root for root in self._roots if _is_under(real, root)]
        if not roots:
            raise FileOutsideRoots(path, self._roots)
        if self._store.has(real) and not any(self._store.is_workplace(root) for root in roots):
            raise FileOffLimits(path, STORE)
        content = self._content(roots[0], real[len(roots[0]) :], path)
        return LoadedFile(os.path.basename(real), path, content)

    def read_beneath(self, folder: str, path: str) -> LoadedFile:
        """Like `load_beneath`, in the calling thread."""
        return LoadedFile(os.path.basename(path), path, self._content(folder, path, path))

    def _content(self, folder: str, path: str, named: str) -> bytes:
        def check(status: os.stat_result) -> None:
            if self._store.is_link_into(status):
                raise FileOffLimits(named, STORE)

        try:
            content = read_beneath(folder, path, MAX_FILE_BYTES, check)
        except NotReadable as error:
            raise Invalid("file", named, str(error)) from None
        reason = why_private(content)
        if reason is not None:
            raise FileOffLimits(named, reason)
        return content


def _is_under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
