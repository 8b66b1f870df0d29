"""Files that verbs write. A file appears under its name only when it is complete."""

import errno
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from covey.composition import whole_file
from covey.core.errors import Invalid, StoreFull, WouldOverwrite
from covey.core.ledger.message import FilePart
from covey.surfaces.cli.call import Call


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


def save_files(call: Call, parts: Sequence[FilePart], folder: str, *, replaces: bool) -> Sequence[Path]:
    """Write attached files to a folder, which is created if it is missing. Return their paths.

    A file with other content is replaced only if `replaces` is set. Otherwise WouldOverwrite is raised before anything
    is written.
    """
    content = call.services.attachments.content
    planned = [(path, call.run(content(part))) for part, path in _places(parts, Path(folder))]
    missing = [(path, data) for path, data in planned if not _has(path, data)]
    for path, _ in missing:
        if not replaces and (path.exists() or path.is_symlink()):
            raise WouldOverwrite(str(path), "a file with another content is there")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Invalid("folder", folder, (error.strerror or str(error)).lower()) from None
    for path, data in missing:
        with new_file(str(path), replace=True) as file:
            file.write(data)
    return [path for path, _ in planned]


def _places(parts: Sequence[FilePart], folder: Path) -> Iterator[tuple[FilePart, Path]]:
    """Give each file a path of its own in the folder.

    A second file with the same name becomes name-2. Files with equal name and content share one path.
    """
    taken: dict[str, str] = {}
    for part in parts:
        first = Path(_safe(part))
        name, n = first.name, 1
        while taken.get(name, part.digest) != part.digest:
            n += 1
            name = f"{first.stem}-{n}{first.suffix}"
        if name not in taken:
            taken[name] = part.digest
            yield part, folder / name


def _safe(part: FilePart) -> str:
    """Return a safe name for the file. The sender chose the name, so it must not lead out of the folder."""
    name = part.name.replace("\\", "/").rpartition("/")[2].replace("\0", "")
    return name if name not in ("", ".", "..") else part.digest[:12]


def _has(path: Path, content: bytes) -> bool:
    try:
        return not path.is_symlink() and path.read_bytes() == content
    except OSError:
        return False
