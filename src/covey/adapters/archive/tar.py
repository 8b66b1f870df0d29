"""Backups as tar files: contents.json, covey.db, blobs/<digest>…, and end.json, without which a backup is incomplete.

Any program for tar files can list and unpack them. A backup that was compressed later can be read too.
"""

import bz2
import gzip
import hashlib
import json
import lzma
import os
import tarfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import IO, Any, Final, cast

from covey.adapters.archive.complete_files import final_file, written
from covey.core.errors import BackupUnusable, CoveyError
from covey.core.ledger.wire import natural, read_json
from covey.core.times import format_instant, parse_instant
from covey.disk.files import private_new, sync
from covey.ports.care import Archive, ArchiveContents, NewArchive, ProgressCallback

MAX_READ: Final = 4 * 1024 * 1024
"""The largest read. A header of a tar file that claims to be larger is not from a backup."""

FREE_BYTES: Final = 64 * 1024 * 1024
MAX_RATIO: Final = 100
"""A compressed file may unpack to this many times its size, and to `FREE_BYTES` in any case. A database seldom
compresses to less than a twentieth."""

_PACKED: Final = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
    (b"\x5d\x00\x00", lzma.open),
)
"""The first bytes of compressed files, and the functions that open them."""


class Unpacked:
    """The content of a file, decompressed if necessary, for reading forwards only."""

    def __init__(self, file: str) -> None:
        """Open the file. Raise BackupUnusable if the path is no regular file, and OSError if it can't be opened."""
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # otherwise opening a pipe would block
        self._raw: IO[bytes] = os.fdopen(descriptor, "rb")
        self._file = file
        try:
            if not os.path.isfile(file):
                raise BackupUnusable(file, "it is not a file")
            size = os.fstat(descriptor).st_size
            beginning = self._raw.read(8)
            self._raw.seek(0)
            opener = next((opener for start, opener in _PACKED if beginning.startswith(start)), None)
            self._content = self._raw if opener is None else cast(IO[bytes], opener(self._raw, "rb"))
            self._left = size if opener is None else max(FREE_BYTES, MAX_RATIO * size)
        except BaseException:
            self._raw.close()
            raise
        self._place = 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes. Raise BackupUnusable if a bound is exceeded."""
        if not 0 <= size <= MAX_READ:
            raise BackupUnusable(self._file, f"a header claims {size:,} bytes, which is too much")
        content = self._content.read(size)
        self._left -= len(content)
        self._place += len(content)
        if self._left < 0:
            reason = (
                f"it unpacks to more than {MAX_RATIO} times its size, which no backup does. If it is a backup,"
                " unpack it yourself and restore the tar file"
            )
            raise BackupUnusable(self._file, reason)
        return content

    def tell(self) -> int:
        return self._place

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        """Skip forward to a place. Raise BackupUnusable for any other seek."""
        if whence != os.SEEK_SET or place < self._place:
            raise BackupUnusable(self._file, "its parts are in the wrong order")
        while self._place < place:
            if not self.read(min(place - self._place, MAX_READ)):
                break
        return self._place

    def close(self) -> None:
        self._content.close()
        self._raw.close()


FORMAT: Final = 1
CONTENTS: Final = "contents.json"
RECORDS: Final = "covey.db"
BLOBS: Final = "blobs/"
END: Final = "end.json"

MAX_BLOB: Final = 128 * 1024 * 1024
"""The largest size of a blob."""

_UNREADABLE: Final = (
    tarfile.TarError,
    OSError,
    EOFError,
    ValueError,
    LookupError,
    ArithmeticError,
    RecursionError,
    zlib.error,
    lzma.LZMAError,
)
"""Exceptions of tarfile and the decompressors for damaged or malicious content."""

_CHUNK: Final = 1024 * 1024
_SMALL: Final = 1024 * 1024
"""The largest size of a JSON file in a backup."""


class TarArchives:
    """`Archives` as tar files. For one thread; the methods never suspend."""

    @contextmanager
    def create(self, file: str, *, replace: bool) -> Generator[NewArchive]:
        with (
            final_file(file, replace=replace) as new,
            written(file),
            tarfile.open(fileobj=new.archive, mode="w") as tar,
        ):
            archive = _NewTar(tar, new.records)
            yield archive
            archive.check_finished()

    @contextmanager
    def open(self, file: str) -> Generator[Archive]:
        try:
            content = Unpacked(file)
        except FileNotFoundError:
            raise BackupUnusable(file, "there is no such file") from None
        except OSError as error:
            raise BackupUnusable(file, error.strerror or str(error)) from error
        with closing(content):
            try:
                tar = tarfile.TarFile(fileobj=cast(IO[bytes], content))
            except _UNREADABLE as error:
                raise BackupUnusable(file, "it is not a tar file, or is cut short") from error
            with tar:
                yield _Tar(tar, file)


class _NewTar:
    def __init__(self, tar: tarfile.TarFile, records_file: str) -> None:
        self.records_file = records_file
        self._tar = tar
        self._made_at = 0.0
        self._blobs = 0
        self._is_finished = False

    def add_records(self, contents: ArchiveContents) -> None:
        self._made_at = contents.made_at.timestamp()
        document = {
            "format": FORMAT,
            "made_at": format_instant(contents.made_at),
            "position": contents.position,
            "counts": dict(contents.counts),
            "sha256": _digest(self.records_file),
        }
        self._add_json(CONTENTS, document)
        with open(self.records_file, "rb") as records:
            self._add(RECORDS, os.fstat(records.fileno()).st_size, records)

    def add_blob(self, digest: str, content: bytes) -> None:
        from io import BytesIO

        self._add(f"{BLOBS}{digest}", len(content), BytesIO(content))
        self._blobs += 1

    def finish(self) -> None:
        self._add_json(END, {"blobs": self._blobs})
        self._is_finished = True

    def check_finished(self) -> None:
        if not self._is_finished:
            raise RuntimeError("an archive gets its name only when it is finished")

    def _add_json(self, name: str, document: dict[str, Any]) -> None:
        from io import BytesIO

        content = (json.dumps(document, indent=2) + "\n").encode()
        self._add(name, len(content), BytesIO(content))

    def _add(self, name: str, size: int, content: IO[bytes]) -> None:
        member = tarfile.TarInfo(name)
        member.size = size
        member.mode = 0o600
        member.mtime = int(self._made_at)
        self._tar.addfile(member, content)


class _Tar:
    def __init__(self, tar: tarfile.TarFile, file: str) -> None:
        self._tar = tar
        self._file = file
        document = self._json(self._next(), CONTENTS)
        if document.get("format") != FORMAT:
            raise BackupUnusable(file, "its format is unknown; a newer Covey may read it")
        try:
            self._sha256 = str(document["sha256"])
            counts = cast(dict[str, Any], document["counts"])
            self.contents = ArchiveContents(
                parse_instant(document["made_at"]),
                natural(document["position"]),
                {str(name): natural(count) for name, count in counts.items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError, CoveyError) as error:
            raise BackupUnusable(file, f"its {CONTENTS} can't be read: {error}") from error

    def check(self, tell: ProgressCallback) -> None:
        for _ in self._records(tell):
            pass
        for _ in self.blobs():
            pass

    def extract_records(self, file: str, tell: ProgressCallback) -> None:
        with written(file), open(file, "wb", opener=private_new) as records:
            records.writelines(self._records(tell))
            records.flush()
            sync(records.fileno())

    def blobs(self) -> Iterator[bytes]:
        seen: set[str] = set()
        while (member := self._next()) is not None and member.name.startswith(BLOBS):
            if member.size > MAX_BLOB:
                raise BackupUnusable(
                    self._file, f"{_shown(member)} has {member.size:,} bytes, which is too much for a blob"
                )
            content = b"".join(self._chunks(member))
            if hashlib.sha256(content).hexdigest() != member.name.removeprefix(BLOBS):
                raise BackupUnusable(self._file, f"{_shown(member)} does not match its checksum")
            if member.name in seen:
                raise BackupUnusable(self._file, f"{_shown(member)} is in it twice")
            seen.add(member.name)
            yield content
        if self._json(member, END).get("blobs") != len(seen):
            raise BackupUnusable(self._file, "some of its blobs are missing")
        if (more := self._next()) is not None:
            raise BackupUnusable(self._file, f"{_shown(more)} follows after its end")

    def _records(self, tell: ProgressCallback) -> Iterator[bytes]:
        member = self._next()
        if member is None or member.name != RECORDS:
            raise BackupUnusable(self._file, f"it has no {RECORDS}")
        found = hashlib.sha256()
        done = 0
        for chunk in self._chunks(member):
            yield chunk
            found.update(chunk)
            done += len(chunk)
            tell(done, member.size)
        if found.hexdigest() != self._sha256:
            raise BackupUnusable(self._file, f"its {RECORDS} does not match its checksum")

    def _next(self) -> tarfile.TarInfo | None:
        try:
            member = self._tar.next()
        except _UNREADABLE as error:
            raise BackupUnusable(self._file, str(error) or type(error).__name__) from error
        vars(self._tar)["members"].clear()  # otherwise tarfile would keep every member in memory
        if member is not None and (not member.isreg() or member.issparse()):
            raise BackupUnusable(
                self._file, f"{_shown(member)} is a link, a device or another entry that no backup has"
            )
        return member

    def _json(self, member: tarfile.TarInfo | None, name: str) -> dict[str, Any]:
        if member is None or member.name != name or member.size > _SMALL:
            raise BackupUnusable(self._file, f"its {name} is missing or not in its place")
        try:
            document = read_json(b"".join(self._chunks(member)).decode())
        except (ValueError, RecursionError) as error:
            raise BackupUnusable(self._file, f"its {name} can't be read: {error}") from error
        if not isinstance(document, dict):
            raise BackupUnusable(self._file, f"its {name} can't be read")
        return cast(dict[str, Any], document)

    def _chunks(self, member: tarfile.TarInfo) -> Iterator[bytes]:
        """Yield the content of a member in chunks. Raise BackupUnusable if the content is cut short."""
        try:
            content = self._tar.extractfile(member)
            left = member.size
            while content is not None and (chunk := content.read(_CHUNK)):
                left -= len(chunk)
                yield chunk
        except _UNREADABLE as error:
            raise BackupUnusable(self._file, str(error) or type(error).__name__) from error
        if left:
            raise BackupUnusable(self._file, f"{_shown(member)} is cut short")


def _shown(member: tarfile.TarInfo) -> str:
    """Return the name of a member for an error: short, and safe to print on a terminal."""
    return ascii(member.name[:100])


def _digest(file: str) -> str:
    with open(file, "rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
