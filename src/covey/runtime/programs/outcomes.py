"""The outcome of a run, for the task's delegator."""

import mimetypes
import os
import signal
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final, NamedTuple

from covey.core.errors import CoveyError, Invalid, Rejected
from covey.core.ledger.message import FilePart
from covey.core.limits import MAX_ENVELOPE_BYTES
from covey.ports.launcher import EndReason, ProgramEnd
from covey.runtime.programs.folders import RunFolder, safe_name
from covey.runtime.programs.output import Printed, last_lines, read_file, read_printed
from covey.runtime.tasks.held_task import Failure, Result
from covey.services.mail.attachments import Attachments

MOST: Final = 100
LARGEST: Final = 16 * 1024 * 1024
LARGEST_TOGETHER: Final = 64 * 1024 * 1024


class Artifacts(NamedTuple):
    files: tuple[FilePart, ...] = ()
    left_out: tuple[str, ...] = ()
    """Files that were left out, each with the reason."""


async def collect(folder: Path, attachments: Attachments, wanted: Collection[str] | None = None) -> Artifacts:
    """Return snapshots of the files in a folder, or of the named ones. Links are not followed, so only files of the
    folder itself are attached. Files over a limit are listed as left out."""
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
    """Iterate over the files by their paths in the folder; None for a named file that does not exist."""
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
        return  # an unreadable folder contributes no files
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
        return "a link; only files in the output folder itself are sent"
    if not stat.S_ISREG(status.st_mode):
        return "no file"
    if status.st_size > LARGEST:
        return f"{status.st_size:,} bytes; the limit is {LARGEST:,}"
    if status.st_size > room:
        return f"{status.st_size:,} bytes; all together have at most {LARGEST_TOGETHER:,}"
    return f"more than {MOST} files" if taken >= MOST else None


def _new_name(path: str, names: set[str]) -> str:
    """Return the file's name in the result: a safe name without folders."""
    name = safe_name(path.replace("/", "_"), len(names) + 1)
    while name in names:
        name = f"{len(names) + 1}-{name}"
    names.add(name)
    return name


def told(left_out: Sequence[str]) -> str:
    """Return a note about the files that were left out, with a limited number of names."""
    shown = [*left_out[:MOST], *([f"{len(left_out) - MOST:,} more"] if len(left_out) > MOST else [])]
    return "\n".join(["Left out of the result:", *(f"- {line}" for line in shown)]) if left_out else ""


RESULT_FILE: Final = "result.json"
LONGEST_REASON: Final = 400

_IN_WORDS: Final[Mapping[EndReason, str]] = {
    EndReason.STOPPED: "was stopped",
    EndReason.ABANDONED: "was killed when its worker ended",
    EndReason.LOST: "was killed, together with its supervisor",
}


def is_final(ended: ProgramEnd) -> bool:
    """Tell whether a run ended by itself, or at its time limit. A run that was interrupted does not decide its task,
    which can be tried again."""
    return ended.ending in (EndReason.EXITED, EndReason.TIMED_OUT)


async def outcome_of(
    name: str, ended: ProgramEnd, folder: RunFolder, attachments: Attachments, limit: timedelta | None
) -> Result | Failure:
    """Return the result of a run with its files, or its failure."""
    try:
        printed = await _read(ended, folder, attachments)
    except Rejected as error:
        printed = Printed(error=error.message)
    artifacts = await _artifacts(ended, folder, attachments, printed)
    left_out = told(artifacts.left_out)
    why_not = _why_failed(name, ended, limit)
    if why_not is None and printed.error is None:
        return Result(_sections(printed.text, left_out), printed.data, artifacts.files)
    errors = last_lines(ended.stderr.text)
    printed_last = "" if printed.error else last_lines(ended.stdout.text)
    said = printed.error or (errors or printed_last).rpartition("\n")[2]
    text = _sections(
        _sentence(why_not or printed.error or ""),
        f"The end of stderr:\n{errors}" if errors else "",
        f"The end of stdout:\n{printed_last}" if printed_last else "",
        left_out,
    )
    reason = ": ".join(part for part in (why_not, said.strip()) if part)
    return Failure(_clipped(reason), text, printed.data, artifacts.files)


def _sections(*sections: str) -> str:
    return "\n\n".join(section for section in sections if section)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


async def _read(ended: ProgramEnd, folder: RunFolder, attachments: Attachments) -> Printed:
    file = folder.output / RESULT_FILE
    if file.is_file() and not file.is_symlink() and not folder.output.is_symlink():
        if (size := file.stat().st_size) > MAX_ENVELOPE_BYTES:
            raise Invalid(RESULT_FILE, f"{size:,} bytes", f"it has at most {MAX_ENVELOPE_BYTES:,}")
        content = await attachments.left_in(str(folder.output), RESULT_FILE)
        return read_file(content.decode(errors="replace"))
    return Printed() if _is_binary(ended) else read_printed(ended.stdout)


async def _artifacts(ended: ProgramEnd, folder: RunFolder, attachments: Attachments, printed: Printed) -> Artifacts:
    found = await collect(folder.output, attachments, printed.files)
    files = tuple(part for part in found.files if part.name != RESULT_FILE)
    if not _is_binary(ended):
        return found._replace(files=files)
    # Output that is not text is attached as a file, as far as it was kept.
    part = await attachments.keep("stdout.bin", ended.stdout.head + ended.stdout.tail)
    cut = f"{ended.stdout.left_out:,} bytes from the middle of stdout.bin"
    return Artifacts((*files, part), (*found.left_out, *([cut] if ended.stdout.left_out else [])))


def _is_binary(ended: ProgramEnd) -> bool:
    """Tell whether the output of a program is not text."""
    kept = ended.stdout
    if b"\0" in kept.head or b"\0" in kept.tail:
        return True
    try:
        (kept.head + kept.tail if not kept.left_out else b"").decode()
    except UnicodeDecodeError:
        return True
    return False


def _why_failed(name: str, ended: ProgramEnd, limit: timedelta | None) -> str | None:
    """Return the reason of a failed run in a few words; None for a success."""
    if ended.is_success:
        return None
    if ended.ending is EndReason.TIMED_OUT:
        return f"{name} took longer than its time limit" + (f" of {limit.total_seconds():g} s" if limit else "")
    if ended.ending is not EndReason.EXITED:
        return f"{name} {_IN_WORDS[ended.ending]}"
    if ended.signal is not None:
        return f"{name} was ended by {_signal_name(ended.signal)}"
    return f"{name} exited with code {ended.exit_code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _clipped(text: str) -> str:
    line = " ".join(text.encode(errors="replace").decode().split())
    return line if len(line) <= LONGEST_REASON else line[: LONGEST_REASON - 1].rstrip() + "…"
