"""What the operating system complains of in a shared folder, in Covey's words."""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from covey.core.errors import StoreFull, StoreReadOnly, Unavailable

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_RIGHT: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def explained(path: str) -> Generator[None]:
    """Say what is wrong where files under `path` can't be used."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _NO_ROOM:
            raise StoreFull(path) from error
        if error.errno in _NO_RIGHT:
            raise StoreReadOnly(path, reason) from error
        raise Unavailable(f"{path} can't be used: {reason}", path=path, reason=reason) from error
