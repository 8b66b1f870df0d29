"""Mailboxes in folders, for simple programs: no event loop, no ledger, nothing to start.

    manager = MailboxManager("~/.nanobot/mailboxes")
    manager.register("coder", {"description": "writes code", "capabilities": ["code_write"]})
    manager.send("researcher", "coder", {"type": "message", "content": {"parts": [{"type": "text", "text": "hello"}]}})
    manager.process("coder", handle)

The folders, names and fields follow the convention of mailbox programs. So programs that do not use Covey may read and
write the same folders. `files:PATH?layout=mailbox` is the same folder as a space with a ledger.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from covey.composition import mailboxes
from covey.core.errors import Invalid, MessageTooLarge, RecipientUnknown
from covey.core.formats.foreign_files import document_of, instant_of
from covey.core.formats.layout import is_folder_name
from covey.core.formats.mailbox import ENDING, FIRST_STATE, TYPES, file_name, heard_at
from covey.core.limits import INITIAL_HOPS, MAX_ENVELOPE_BYTES, PRESENCE_LEASE
from covey.core.times import format_instant

STATUSES: Final = ("idle", "busy", "offline")
DEFAULT_QUOTA: Final = 3

Fields = dict[str, Any]
"""The fields of an entry or a message, as JSON data."""


def whole_entry(agent_id: str, card: object, now: datetime) -> Fields:
    """Return a registry entry for a card, with defaults for missing fields."""
    given = _mapping("card", card)
    at = format_instant(now)
    usual: Fields = {
        "agent_id": agent_id,
        "description": "",
        "capabilities": [],
        "status": STATUSES[0],
        "allow_from": ["*"],
        "max_concurrent_tasks": DEFAULT_QUOTA,
        "current_tasks": [],
        "registered_at": at,
        "last_heartbeat": at,
    }
    entry = {**usual, **given, "agent_id": agent_id}
    check_status(entry["status"])
    return entry | {field: names(field, entry[field]) for field in ("capabilities", "allow_from", "current_tasks")}


def whole_message(message_id: str, from_id: str, to_id: str, msg: object, now: datetime) -> Fields:
    """Return a message with defaults for the fields that its sender left out."""
    given = _mapping("message", msg)
    kind = given.get("type", "message")
    if kind not in TYPES.values():
        raise Invalid("type", kind, "use message, task or task_update")
    usual: Fields = {
        "id": message_id,
        "from": from_id,
        "to": to_id,
        "timestamp": format_instant(now),
        "type": kind,
        "ttl": INITIAL_HOPS,
        "trace": [from_id],
        "task": {"id": message_id, "state": FIRST_STATE, "deadline": None} if kind == "task" else None,
        "content": {"parts": []},
        "callback": {},
        "reply_to": None,
        "metadata": {},
    }
    message = {**usual, **given, "from": from_id, "to": to_id}
    message.pop("filename", None)  # a message that is passed on as it was polled has the name of its old file
    return message


def check_agent(agent_id: object) -> None:
    """Raise Invalid if an agent id can't be the name of a folder."""
    if not isinstance(agent_id, str) or not is_folder_name(agent_id):
        raise Invalid("agent id", agent_id, "use the name of one folder, without a leading dot")


def check_file(filename: object) -> None:
    """Raise Invalid if a file name can't be that of a message."""
    if not isinstance(filename, str) or not is_folder_name(filename) or not filename.endswith(ENDING):
        raise Invalid("file name", filename, "use the name that poll gave")


def check_status(status: object) -> None:
    """Raise Invalid for an unknown status."""
    if status not in STATUSES:
        raise Invalid("status", status, "use idle, busy or offline")


def names(what: str, value: object) -> list[str]:
    """Return a list of texts. Raise Invalid for anything else."""
    given = cast(Sequence[object], value) if isinstance(value, list | tuple) else (None,)
    texts = [name for name in given if isinstance(name, str)]
    if len(texts) < len(given):
        raise Invalid(what, cast(object, value), "use a list of texts")
    return texts


def _mapping(what: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Invalid(what, value, "use a mapping")
    return cast(Mapping[str, Any], value)


__all__ = ["BrokenFile", "MailboxManager"]

HALF_WRITTEN_S: Final = 2.0
"""Age up to which an unreadable file may be one that another program is still writing."""

Handler = Callable[[Fields], object]


class BrokenFile(NamedTuple):
    """A file in an inbox that is not a message. The file stays in the inbox."""

    filename: str
    problem: str


class MailboxManager:
    """The mailboxes under a folder. Safe for several threads and processes."""

    def __init__(self, mailboxes_root: Path | str, *, offline_after: timedelta = PRESENCE_LEASE) -> None:
        if not str(mailboxes_root):
            raise Invalid("mailboxes root", mailboxes_root, "name a folder")
        self._boxes, self._clock, self._ids = mailboxes(str(Path(mailboxes_root).expanduser().absolute()))
        self._offline_after = offline_after
        self._own: dict[str, Fields] = {}
        """The last entry of each agent that this object wrote, restored if another program overwrites it with an older
        one."""
        self._last_sent_at: datetime | None = None

    # ------------------------------------------------------------------------------------------- the registry
    def register(self, agent_id: str, card: Mapping[str, Any]) -> None:
        """Register an agent and create its folders. Fields that the card lacks get their defaults."""
        check_agent(agent_id)
        entry = whole_entry(agent_id, card, self._clock.now())
        _to_json("card", entry)
        self._boxes.prepare(agent_id)
        self._boxes.registry.put({agent_id: entry})
        self._own[agent_id] = entry

    def heartbeat(self, agent_id: str) -> None:
        """Report that an agent is alive. If another program has undone an entry of this object, the entry is
        restored."""
        self._change(agent_id, {})

    def update_status(self, agent_id: str, status: str, current_tasks: Sequence[str] | None = None) -> None:
        """Set the status of an agent (idle, busy or offline) and the tasks that it works on."""
        check_status(status)
        tasks = {} if current_tasks is None else {"current_tasks": names("current_tasks", current_tasks)}
        self._change(agent_id, {"status": status, **tasks})

    def list_online_agents(self) -> list[Fields]:
        """Return the entries of all agents that are not offline, sorted by name."""
        entries = [self._seen(name, entry) for name, entry in sorted(self._boxes.registry.entries().items())]
        return [entry for entry in entries if entry["status"] != "offline"]

    def get_agent(self, agent_id: str) -> Fields | None:
        """Return the entry of an agent, or None. The status is offline if the heartbeat is too old."""
        check_agent(agent_id)
        entry = self._boxes.registry.entries().get(agent_id)
        return None if entry is None else self._seen(agent_id, entry)

    # ------------------------------------------------------------------------------------------- messages
    def send(self, from_id: str, to_id: str, msg: Mapping[str, Any]) -> str:
        """Put a message into an inbox, and return its file name. The recipient may be offline or not yet registered.
        Missing fields get their defaults; `msg` is not changed."""
        check_agent(from_id)
        check_agent(to_id)
        now = self._next_instant()
        name = file_name(self._ids.message_id(now), from_id, now.microsecond)
        content = _to_json("message", whole_message(f"msg_{name.removesuffix(ENDING)}", from_id, to_id, msg, now))
        if len(content) > MAX_ENVELOPE_BYTES:
            raise MessageTooLarge(len(content), MAX_ENVELOPE_BYTES)
        self._boxes.put(to_id, name, content)
        return name

    def poll(self, agent_id: str) -> list[Fields]:
        """Return the messages in an inbox, oldest first, each with its file name as `filename`. The messages stay in
        the inbox. Files that are not messages are skipped: see `broken`."""
        messages, _ = self._look(agent_id)
        return messages

    def broken(self, agent_id: str) -> list[BrokenFile]:
        """Return the files in an inbox that are not messages. A file that another program may still be writing is left
        out."""
        _, broken = self._look(agent_id)
        return broken

    def mark_processed(self, agent_id: str, filename: str) -> bool:
        """Move a message out of the inbox; return False if it is no longer there, which is not an error."""
        check_agent(agent_id)
        check_file(filename)
        return self._boxes.settle(agent_id, filename)

    def process(self, agent_id: str, handler: Handler) -> int:
        """Call the handler with each message of an inbox, and mark the message as processed when the handler returns;
        return the number of processed messages.

        If the handler raises, the message stays in the inbox and the next messages are still handled. The exceptions
        are raised at the end, as an ExceptionGroup. After a crash a message is delivered again, so handlers must be
        idempotent.
        """
        failures: list[Exception] = []
        done = 0
        for message in self.poll(agent_id):
            filename = message["filename"]
            if not self._boxes.has(agent_id, filename):
                continue  # another process has handled it in the meantime
            try:
                handler(message)
            except Exception as failure:  # noqa: BLE001 - raised below, after all messages
                failure.add_note(f"the message stays in the inbox of {agent_id}: {filename}")
                failures.append(failure)
            else:
                done += self.mark_processed(agent_id, filename)
        if failures:
            raise ExceptionGroup(f"{len(failures)} of {agent_id}'s messages could not be handled", failures)
        return done

    # ------------------------------------------------------------------------------------------- beneath
    def _change(self, agent_id: str, fields: Fields) -> None:
        check_agent(agent_id)
        own = self._own.get(agent_id) or self._boxes.registry.entries().get(agent_id)
        if own is None:
            raise RecipientUnknown(agent_id)
        now = format_instant(self._clock.now())

        def change(entries: Mapping[str, Fields]) -> Mapping[str, Fields]:
            there = entries.get(agent_id, {})
            base = {**there, **own} if _is_undone(there, own) else there
            self._own[agent_id] = {**base, **fields, "last_heartbeat": now}
            return {agent_id: self._own[agent_id]}

        self._boxes.prepare(agent_id)
        self._boxes.registry.change(change)

    def _seen(self, name: str, entry: Fields) -> Fields:
        """Return an entry with its effective status: offline if the heartbeat is too old."""
        heard = heard_at(entry)
        status = entry.get("status") if isinstance(entry.get("status"), str) else STATUSES[0]
        is_silent = heard is not None and self._clock.now() - heard > self._offline_after
        return {"agent_id": name, **entry, "status": "offline" if is_silent else status}

    def _look(self, agent_id: str) -> tuple[list[Fields], list[BrokenFile]]:
        check_agent(agent_id)
        messages: list[tuple[float, Fields]] = []
        broken: list[BrokenFile] = []
        for file in self._boxes.waiting(agent_id):
            try:
                if file.problem:
                    raise Invalid("file", file.name, file.problem)
                message = dict(document_of(file.content))
            except Invalid as fault:
                if self._clock.now().timestamp() - file.written_at > HALF_WRITTEN_S:
                    broken.append(BrokenFile(file.name, fault.rule))
            else:
                sent_at = instant_of(message.get("timestamp"))
                at = file.written_at if sent_at is None else sent_at.timestamp()
                messages.append((at, {**message, "filename": file.name}))
        messages.sort(key=lambda pair: pair[0])  # stable: messages of the same time stay sorted by name
        return [message for _, message in messages], broken

    def _next_instant(self) -> datetime:
        """Return the current time, but later than the last one, so that messages of one sender keep their order."""
        now, last = self._clock.now(), self._last_sent_at
        self._last_sent_at = now if last is None or now > last else last + timedelta(microseconds=1)
        return self._last_sent_at


def _is_undone(there: Fields, own: Fields) -> bool:
    """Tell whether another program has removed our entry or overwritten it with an older one. A newer entry is from
    another process of the same agent, and stays."""
    heard, said = heard_at(there), heard_at(own)
    return heard is None or (said is not None and heard < said)


def _to_json(what: str, value: object) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2).encode() + b"\n"
    except (TypeError, ValueError, RecursionError):
        raise Invalid(what, value, "use what JSON can hold") from None
