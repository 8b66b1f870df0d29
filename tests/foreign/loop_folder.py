"""The folder of agent loops, as their programs use it: inboxes, an archive, archives of tasks, and a manifest."""

import json
import os
import time
import uuid
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Message = dict[str, Any]

LOCK_LIMIT_S = 10.0
STALE_LOCK_S = 30.0


class LoopError(Exception):
    """An error, with the code of the envelope."""

    def __init__(self, code: str, **details: Any) -> None:
        super().__init__(code)
        self.code = code
        self.details = details


class LoopFolder:
    """inbox/<agent>/<id>.json, archive/<id>.json, archive/by-task/<task>/<id>.json, manifest.jsonl"""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.archive_folder = root / "archive"
        self.manifest = root / "manifest.jsonl"

    def send(
        self,
        sender: str,
        to: str,
        body: str,
        *,
        phase: str | None = None,
        number: int | None = None,
        kind: str = "notify",
        subject: str | None = None,
        expects_reply: bool = False,
        in_reply_to: str | None = None,
    ) -> Message:
        now = datetime.now(UTC)
        message: Message = {
            "id": f"{int(now.timestamp() * 1000)}-{uuid.uuid4()}",
            "from": sender,
            "to": to,
            "phase": phase,
            "round": number,
            "kind": kind,
            "subject": subject or "style",
            "body": body,
            "expects_reply": expects_reply,
            "in_reply_to": in_reply_to,
            "created_at": now.isoformat().replace("+00:00", "Z"),
        }
        folder = self.root / "inbox" / to
        folder.mkdir(parents=True, exist_ok=True)
        with self._locked():
            _write(folder / f"{message['id']}.json", message)
            self._log({"event": "sent", "id": message["id"], "from": sender, "to": to, "phase": phase})
        return message

    def inbox(self, agent: str, task: str | None = None, kind: str | None = None) -> list[Message]:
        found = sorted(self._in(self.root / "inbox" / agent), key=lambda message: message["id"])
        return [m for m in found if task in (None, m["phase"]) and kind in (None, m["kind"])]

    def archive(self, message_id: str) -> Message:
        with self._locked():
            return self._archive(message_id)

    def _archive(self, message_id: str) -> Message:
        (path,) = list(self.root.glob(f"inbox/*/{message_id}.json")) or [None]
        if path is None:
            known = self._is_archived(message_id)
            raise LoopError("messages-already-archived" if known else "messages-orphan-inbox", id=message_id)
        message = _read(path)
        assert message is not None
        if message["kind"] == "request" and message["expects_reply"] and not self._answers(message_id):
            raise LoopError("messages-archive-without-reply", id=message_id)
        self.archive_folder.mkdir(parents=True, exist_ok=True)
        if not _move(path, self.archive_folder):
            raise LoopError("messages-already-archived", id=message_id)
        self._log({"event": "archived", "id": message_id})
        return message

    def thread(self, message_id: str) -> list[Message]:
        """Return the thread of a message, each message after the one it answers."""
        known = {message["id"]: message for message in self.everything()}
        first = message_id
        while (before := known[first]["in_reply_to"]) in known:
            first = before
        chain, waiting = [known[first]], [m for m in known.values() if m["id"] != first]
        for message in chain:
            chain += sorted((m for m in waiting if m["in_reply_to"] == message["id"]), key=lambda m: m["id"])
        return chain

    def pending_replies(self, task: str) -> list[Message]:
        requests = (m for m in self._in(*self.root.glob("inbox/*")) if m["kind"] == "request" and m["expects_reply"])
        return sorted((m for m in requests if m["phase"] == task), key=lambda m: m["id"])

    def commit(self, task: str) -> int:
        """Commit as a loop does: refuse while answers are owed, otherwise sweep the task."""
        if pending := self.pending_replies(task):
            raise LoopError(
                "loop-commit-precondition-missing",
                missing="pending-replies-cleared",
                observed_pending_replies=len(pending),
                pending_subjects=[message["subject"] for message in pending],
            )
        return self.sweep(task)

    def sweep(self, task: str) -> int:
        target = self.archive_folder / "by-task" / task
        target.mkdir(parents=True, exist_ok=True)
        with self._locked():
            return self._sweep(task, target)

    def _sweep(self, task: str, target: Path) -> int:
        moved = 0
        for path in [*self.root.glob("inbox/*/*.json"), *self.archive_folder.glob("*.json")]:
            message = _read(path)
            if message is not None and message["phase"] == task:
                moved += _move(path, target)
        self._log({"event": "task-swept", "phase": task, "moved": moved})
        return moved

    def everything(self) -> Iterable[Message]:
        return self._in(*self.root.glob("inbox/*"), self.archive_folder, *self.archive_folder.glob("by-task/*"))

    def _in(self, *folders: Path) -> Iterable[Message]:
        for folder in folders:
            for path in sorted(folder.glob("*.json")):
                if (message := _read(path)) is not None and _is_whole(message):
                    yield message

    def _answers(self, message_id: str) -> list[Message]:
        return [m for m in self.everything() if m["kind"] == "response" and m["in_reply_to"] == message_id]

    def _is_archived(self, message_id: str) -> bool:
        return any(self.archive_folder.glob(f"**/{message_id}.json"))

    def _log(self, event: dict[str, Any]) -> None:
        line = json.dumps({**event, "ts": datetime.now(UTC).isoformat()})
        with self.manifest.open("a") as manifest:
            manifest.write(line + "\n")

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Hold manifest.jsonl.lock, which is created exclusively and contains the owner's process id."""
        lock = self.root / "manifest.jsonl.lock"
        ends_at = time.monotonic() + LOCK_LIMIT_S
        while True:
            try:
                descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                break
            except FileExistsError:
                if _is_stale(lock):
                    lock.unlink(missing_ok=True)
                elif time.monotonic() > ends_at:
                    raise LoopError("manifest-locked") from None
                time.sleep(0.005)
        try:
            os.write(descriptor, str(os.getpid()).encode())
            os.close(descriptor)
            yield
        finally:
            lock.unlink(missing_ok=True)


def _is_stale(lock: Path) -> bool:
    try:
        if time.time() - lock.stat().st_mtime > STALE_LOCK_S:
            return True
        text = lock.read_text()
        if text:
            os.kill(int(text), 0)
    except FileNotFoundError:
        return False
    except (ProcessLookupError, ValueError):
        return True
    return False


def _move(path: Path, folder: Path) -> bool:
    """Move a file. Return False if another program was faster."""
    try:
        path.rename(folder / path.name)
    except FileNotFoundError:
        return False
    return True


def _write(path: Path, message: Message) -> None:
    unfinished = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    unfinished.write_text(json.dumps(message, indent=2))
    unfinished.rename(path)


def _is_whole(message: Message) -> bool:
    """Return whether a message has the fields of the loops' schema. Other messages are ignored."""
    texts = ("id", "from", "to", "phase", "kind", "subject", "created_at")
    return all(isinstance(message.get(name), str) and message[name] for name in texts)


def _read(path: Path) -> Message | None:
    """Return the content of a file; None if it has been moved meanwhile."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
