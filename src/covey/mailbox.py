"""Mailboxes in folders, for programs that need no more than that: no event loop, no ledger, nothing to start.

    manager = MailboxManager("~/.nanobot/mailboxes")
    manager.register("coder", {"description": "writes code", "capabilities": ["code_write"]})
    manager.send("researcher", "coder", {"type": "message", "content": {"parts": [{"type": "text", "text": "hello"}]}})
    manager.process("coder", handle)

The folders, names and fields are those that mailbox programs agreed on, so others may read and write beside it: they
need not be Covey's. `files:PATH?layout=mailbox` is the same folder as a space with a ledger.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from covey.composition import mailboxes
from covey.core.errors import Invalid, MessageTooLarge, RecipientUnknown
from covey.core.formats.foreign_files import document_of, instant_of
from covey.core.formats.mailbox import ENDING, file_name
from covey.core.formats.mailbox_forms import (
    STATUSES,
    Fields,
    check_agent,
    check_file,
    check_status,
    names,
    whole_entry,
    whole_message,
)
from covey.core.formats.registry import heard_at
from covey.core.limits import MAX_ENVELOPE_BYTES, PRESENCE_LEASE
from covey.core.times import format_instant

__all__ = ["BrokenFile", "MailboxManager"]

HALF_WRITTEN_S: Final = 2.0
"""How long a file that can't be read may be one that another program is writing."""

Handler = Callable[[Fields], object]


class BrokenFile(NamedTuple):
    """A file in an inbox that is no message. It stays where it is."""

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
        """What this object has last written of each agent, to be written again where others have undone it."""
        self._last_sent_at: datetime | None = None

    # ------------------------------------------------------------------------------------------- the registry
    def register(self, agent_id: str, card: Mapping[str, Any]) -> None:
        """Make an agent known, with its folders. What the card does not say has its usual value."""
        check_agent(agent_id)
        entry = whole_entry(agent_id, card, self._clock.now())
        _to_json("card", entry)
        self._boxes.prepare(agent_id)
        self._boxes.registry.put({agent_id: entry})
        self._own[agent_id] = entry

    def heartbeat(self, agent_id: str) -> None:
        """Say that an agent is there. An entry that this object wrote and another program has undone comes back."""
        self._change(agent_id, {})

    def update_status(self, agent_id: str, status: str, current_tasks: Sequence[str] | None = None) -> None:
        """Say what an agent does: idle, busy or offline, and on which tasks it works."""
        check_status(status)
        tasks = {} if current_tasks is None else {"current_tasks": names("current_tasks", current_tasks)}
        self._change(agent_id, {"status": status, **tasks})

    def list_online_agents(self) -> list[Fields]:
        """Return the entries of agents that are not offline, by their names."""
        entries = [self._seen(name, entry) for name, entry in sorted(self._boxes.registry.entries().items())]
        return [entry for entry in entries if entry["status"] != "offline"]

    def get_agent(self, agent_id: str) -> Fields | None:
        """Return the entry of an agent, or None. One whose heartbeat is too old is offline."""
        check_agent(agent_id)
        entry = self._boxes.registry.entries().get(agent_id)
        return None if entry is None else self._seen(agent_id, entry)

    # ------------------------------------------------------------------------------------------- messages
    def send(self, from_id: str, to_id: str, msg: Mapping[str, Any]) -> str:
        """Put a message into an inbox; return the name of its file. It waits there also for an agent that is offline,
        or not yet known. Fields that are missing have their usual values; `msg` is left as it is."""
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
        """Return the messages in an inbox, by their time, each with the name of its file as `filename`. They stay
        there. Files that are no message are passed over: `broken` tells them."""
        messages, _ = self._look(agent_id)
        return messages

    def broken(self, agent_id: str) -> list[BrokenFile]:
        """Return the files in an inbox that are no message. One that was just begun may still become one."""
        _, broken = self._look(agent_id)
        return broken

    def mark_processed(self, agent_id: str, filename: str) -> bool:
        """Move a message out of the inbox; False where it is no longer there, which is no mistake."""
        check_agent(agent_id)
        check_file(filename)
        return self._boxes.settle(agent_id, filename)

    def process(self, agent_id: str, handler: Handler) -> int:
        """Give each message of an inbox to the handler, and mark it as processed when that returns; return how many.

        A message whose handler raises stays in the inbox, and the others have their turn all the same; what was raised
        is raised in the end, as an ExceptionGroup. Whoever is killed in the middle has the message again: handlers must
        bear to see one twice."""
        failures: list[Exception] = []
        done = 0
        for message in self.poll(agent_id):
            filename = message["filename"]
            if not self._boxes.has(agent_id, filename):
                continue  # another process has done it meanwhile
            try:
                handler(message)
            except Exception as failure:  # noqa: BLE001 - whatever it is, it is raised below, when all had their turn
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
        """Return an entry with its status as it is for others."""
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
        messages.sort(key=lambda pair: pair[0])  # stable: those of one time stay by their names
        return [message for _, message in messages], broken

    def _next_instant(self) -> datetime:
        """Return the present time, but later than the last one: messages of one sender keep their order."""
        now, last = self._clock.now(), self._last_sent_at
        self._last_sent_at = now if last is None or now > last else last + timedelta(microseconds=1)
        return self._last_sent_at


def _is_undone(there: Fields, own: Fields) -> bool:
    """Tell whether another program has written an older state over what we wrote, or has removed it. A newer one is
    from another process of the same agent, and stays."""
    heard, said = heard_at(there), heard_at(own)
    return heard is None or (said is not None and heard < said)


def _to_json(what: str, value: object) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2).encode() + b"\n"
    except (TypeError, ValueError, RecursionError):
        raise Invalid(what, value, "use what JSON can hold") from None
