"""A folder as found in practice: years of messages, and everything that people and programs have left between them."""

import contextlib
import json
import os
import socket
import time
from pathlib import Path
from typing import Any, NamedTuple

from covey.core.formats.layout import Layout

ALPHABETS = (
    "研究员",
    "исследователь",
    "ερευνητής",
    "باحث",
    "חוקר",
    "शोधकर्ता",
    "นักวิจัย",
    "연구원",
    "ኣጥናኢ",
    "🦜🌍",
    "e\u0301tude",
    "a b.c~(1)",
    "x" * 200,
)
HUGE = 64 * 1024 * 1024
LONG_AGO = time.time() - 3600


class Junk(NamedTuple):
    """The contents of a filled folder."""

    archived: int
    alphabets: tuple[str, ...]
    untouched: dict[str, bytes | str]
    """Paths that must stay unchanged, with their content or the target of their link."""


def message(layout: Layout, sender: str, to: str, text: str, n: int, **fields: Any) -> dict[str, Any]:
    """Return a message in the format of a foreign program with this layout."""
    at = f"2026-04-{n % 28 + 1:02}T{n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}Z"
    made: dict[str, Any] = {"id": f"{1_745_659_200_000 + n}-x{n}", "from": sender, "to": to}
    if layout is Layout.DIALOGUE:
        made |= {"phase": f"T{n % 5}", "round": 1, "kind": "notify", "subject": "style", "body": text}
        made |= {"expects_reply": False, "in_reply_to": None, "created_at": at}
    else:
        made |= {"id": f"msg_{n}_{sender}", "timestamp": at, "type": "message", "ttl": 3, "trace": [sender]}
        made |= {"content": {"parts": [{"type": "text", "text": text}]}, "callback": {}, "reply_to": None}
    return {**made, **fields}


def inbox_of(root: Path, layout: Layout, owner: str) -> Path:
    inbox = root / "inbox" / owner if layout is Layout.DIALOGUE else root / owner / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    return inbox


def fill(root: Path, layout: Layout, archived: int) -> Junk:
    """Fill a folder."""
    root.mkdir()
    suffix = ".json" if layout is Layout.DIALOGUE else ".msg.json"
    archive = root / "archive" if layout is Layout.DIALOGUE else root / "coder" / "processed"
    archive.mkdir(parents=True)
    for n in range(archived):
        written = message(layout, f"old{n % 7}", "coder", f"number {n}", n)
        name = written["id"] if layout is Layout.DIALOGUE else f"{1_745_659_200 + n}_old{n % 7}"
        (archive / f"{name}{suffix}").write_text(json.dumps(written))
    alphabets = tuple(name for name in ALPHABETS if _can_be_named(root, name))
    for n, name in enumerate(alphabets):
        asked = message(layout, "coder", name, f"hello {name}", 100_000 + n)
        (inbox_of(root, layout, name) / f"{1_745_000_000 + n}_{n}{suffix}").write_text(json.dumps(asked))
        told = message(layout, name, "coder", f"from {name}", 200_000 + n)
        (inbox_of(root, layout, "coder") / f"{1_745_000_000 + n}_told{n}{suffix}").write_text(json.dumps(told))
    untouched = _broken(root, layout, inbox_of(root, layout, "coder"), archive, suffix)
    return Junk(archived, alphabets, untouched)


def _broken(root: Path, layout: Layout, inbox: Path, archive: Path, suffix: str) -> dict[str, bytes | str]:
    """Put files that are no messages between the messages, and return them."""
    contents = {
        "half": b'{"id": "17',
        "empty": b"",
        "list": b"[1, 2]",
        "number": b"7",
        "bytes": b"\xff\xfe\x00\x01",
        "deep": b"[" * 100_000,
        "no-sender": json.dumps(message(layout, "x", "coder", "x", 1) | {"from": None}).encode(),
        "no-text": json.dumps({"id": "1", "from": "x"}).encode(),
        "two": b"{}{}",
        "huge-number": b'{"id": ' + b"9" * 5000 + b"}",
        "locked": b"not for you",
    }
    written = [*(inbox / f"{name}{suffix}" for name in contents), archive / f"half{suffix}", inbox / "notes.txt"]
    for path, content in zip(written, [*contents.values(), b"{", b"buy milk"], strict=True):
        path.write_bytes(content)
    (inbox / f"locked{suffix}").chmod(0)
    (inbox / f"line\nbreak{suffix}").write_bytes(b"{}")
    os.close(os.open(os.fsencode(inbox) + b"/\xff\xfe" + suffix.encode(), os.O_CREAT | os.O_WRONLY))
    with (inbox / f"huge{suffix}").open("wb") as huge:
        huge.truncate(HUGE)
    for where in (inbox, archive):
        (where / f"folder{suffix}").mkdir()
        (where / f"folder{suffix}" / f"deeper{suffix}").write_bytes(b"{}")
        os.mkfifo(where / f"pipe{suffix}")
        (where / f"link{suffix}").symlink_to("/etc/hostname")
        (where / f"nowhere{suffix}").symlink_to("nothing")
        (where / f"circle{suffix}").symlink_to(f"circle{suffix}")
    with socket.socket(socket.AF_UNIX) as bell, contextlib.chdir(inbox):  # the whole path may be too long for a socket
        bell.bind(f"bell{suffix}")
    (inbox.parent / "elsewhere" if layout is Layout.DIALOGUE else root / "elsewhere").symlink_to("/tmp")
    for path in inbox.iterdir():
        if not path.is_symlink():
            os.utime(path, (LONG_AGO, LONG_AGO))  # no program is writing to it any more
    os.utime(archive / f"half{suffix}", (LONG_AGO, LONG_AGO))
    kept: dict[str, bytes | str] = {str(path): content for path, content in _files(written, inbox, suffix)}
    links = [where / f"{name}{suffix}" for where in (inbox, archive) for name in ("link", "nowhere", "circle")]
    return kept | {str(path): str(path.readlink()) for path in links}


def _files(written: list[Path], inbox: Path, suffix: str) -> list[tuple[Path, bytes]]:
    return [(path, path.read_bytes()) for path in written if path != inbox / f"locked{suffix}"]


def _can_be_named(root: Path, name: str) -> bool:
    """Return whether the file system accepts a name and returns it unchanged."""
    try:
        (root / name).mkdir()
    except OSError:
        return False
    is_same = name in [path.name for path in root.iterdir()]
    (root / name).rmdir()
    return is_same
