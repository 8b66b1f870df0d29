"""The file of an export: it appears under its name only when it is complete."""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO

from covey.composition import whole_file
from covey.core.errors import Invalid, StoreFull


@contextmanager
def new_file(path: str, *, replace: bool) -> Generator[IO[bytes]]:
    """Open a new file for writing. Raise Invalid or StoreFull if it can't be written."""
    try:
        with whole_file(path, replace=replace) as file:
            yield file
    except BlockingIOError:
        raise Invalid("file", path, "another export is being written there") from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoreFull(path) from error
        raise Invalid("file", path, f"it can't be written: {(error.strerror or str(error)).lower()}") from error
