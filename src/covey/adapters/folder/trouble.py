"""Translation of OSError in a shared folder into Covey's errors."""

import errno
from typing import Final

from covey.core.errors import StoreFull, StoreReadOnly, Unavailable

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_RIGHT: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


class explained:  # noqa: N801 - used like a function; a generator-based context manager would cost several times as much
    """A context that raises an OSError as StoreFull, StoreReadOnly or Unavailable for `path`."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError):
            return
        reason = error.strerror or str(error)
        if error.errno in _NO_ROOM:
            raise StoreFull(self._path) from error
        if error.errno in _NO_RIGHT:
            raise StoreReadOnly(self._path, reason) from error
        raise Unavailable(f"{self._path} can't be used: {reason}", path=self._path, reason=reason) from error
