"""Artifacts: the files that a program leaves for its task's delegator."""

import mimetypes
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from covey.core.errors import CoveyError
from covey.core.parts import FilePart
from covey.runtime.programs.folders import safe_name
from covey.services.attachments import Attachments

MOST: Final = 100
LARGEST: Final = 16 * 1024 * 1024
LARGEST_TOGETHER: Final = 64 * 1024 * 1024


class Artifacts(NamedTuple):
    files: tuple[FilePart, ...] = ()
    left_out: tuple[str, ...] = ()
    """What could not go along, each with the reason."""


async def collect(folder: Path, attachments: Attachments, wanted: Collection[str] | None = None) -> Artifacts:
    """Return snapshots of the files in a folder, or of those named. Links are not followed: only what is in the folder
    goes along. What is over a limit is left out, and named."""
    files: list[FilePart] = []
    left_out: list[str] = []
    names: set[str] = set()
    room = LARGEST_TOGETHER
    for name, status in _found(folder, wanted):
        why_not = _why_not(status, len(files), room)
        if why_not is None and status is not None:
            try:
                content = await attachments.left_in(str(folder), name)
                media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
                part = await attachments.keep(_new_name(name, names), content, media_type)
            except CoveyError as error:
                why_not = error.message
            else:
                files.append(part)
                room -= len(content)
        if why_not is not None:
            left_out.append(f"{name} ({why_not})".encode(errors="replace").decode())
    return Artifacts(tuple(files), tuple(left_out))


def _found(folder: Path, wanted: Collection[str] | None) -> Iterator[tuple[str, os.stat_result | None]]:
    """Go through the files by their paths in the folder; None where one that was named is not there."""
    if folder.is_symlink():
        yield folder.name, folder.lstat()
        return
    there = dict(_walk(folder, ""))
    if wanted is None:
        yield from sorted(there.items())
        return
    for name in dict.fromkeys(wanted):
        inside = os.path.normpath(name.removeprefix(f"{folder}/"))
        yield inside, there.get(inside)


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        entries = sorted(os.scandir(folder / prefix), key=lambda entry: entry.name)
    except OSError:
        return  # it can't be read: nothing goes along
    for entry in entries:
        name = f"{prefix}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(folder, f"{name}/")
        else:
            yield name, entry.stat(follow_symlinks=False)


def _why_not(status: os.stat_result | None, taken: int, room: int) -> str | None:
    if status is None:
        return "there is no such file in the output folder"
    if stat.S_ISLNK(status.st_mode):
        return "a link; only what is in the output folder itself goes along"
    if not stat.S_ISREG(status.st_mode):
        return "no file"
    if status.st_size > LARGEST:
        return f"{status.st_size:,} bytes; the limit is {LARGEST:,}"
    if status.st_size > room:
        return f"{status.st_size:,} bytes; all together have at most {LARGEST_TOGETHER:,}"
    return f"more than {MOST} files" if taken >= MOST else None


def _new_name(path: str, names: set[str]) -> str:
    """Return the name that a file has in the result: names there have no folders."""
    name = safe_name(path.replace("/", "_"), len(names) + 1)
    while name in names:
        name = f"{len(names) + 1}-{name}"
    names.add(name)
    return name


def told(left_out: Sequence[str]) -> str:
    """Return what to tell of files that could not go along; at most some of their names."""
    shown = [*left_out[:MOST], *([f"{len(left_out) - MOST:,} more"] if len(left_out) > MOST else [])]
    return "\n".join(["Left out of the result:", *(f"- {line}" for line in shown)]) if left_out else ""
