"""Mailboxes, as the program that introduced them uses them: a registry, and a file for each message.

The weaknesses of that program are kept: the registry is rewritten as a whole, without a lock, and file names are unique
by the second.
"""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def now() -> str:
    return datetime.now(UTC).isoformat()


class MailboxManager:
    """_registry.json, <agent>/inbox/<time>_<sender>.msg.json, <agent>/processed/"""

    def __init__(self, mailboxes_root: Path) -> None:
        self.root = mailboxes_root
        self.registry = mailboxes_root / "_registry.json"

    def register(self, agent_id: str, card: Json) -> None:
        for folder in ("inbox", "processed"):
            (self.root / agent_id / folder).mkdir(parents=True, exist_ok=True)
        self._save({**self._load(), agent_id: card})

    def heartbeat(self, agent_id: str) -> None:
        agents = self._load()
        if agent_id in agents:
            agents[agent_id]["last_heartbeat"] = now()
            self._save(agents)

    def update_status(self, agent_id: str, status: str, current_tasks: list[str] | None = None) -> None:
        agents = self._load()
        if agent_id in agents:
            agents[agent_id]["status"] = status
            if current_tasks is not None:
                agents[agent_id]["current_tasks"] = current_tasks
            self._save(agents)

    def send(self, from_id: str, to_id: str, msg: Json, at: int | None = None) -> str:
        inbox = self.root / to_id / "inbox"
        inbox.mkdir(parents=True, exist_ok=True)
        path = inbox / f"{at or int(time.time())}_{from_id}.msg.json"
        _replace(path, msg)
        return path.name

    def poll(self, agent_id: str) -> list[Json]:
        """Return the messages. An unreadable message is fatal, as in the original program."""
        found: list[Json] = []
        for path in (self.root / agent_id / "inbox").glob("*.msg.json"):
            try:
                content = path.read_text()
            except FileNotFoundError:
                if not _may_be_withdrawn(agent_id, path.name):
                    raise
                continue
            message = json.loads(content)
            message["filename"] = path.name
            found.append(message)
        return sorted(found, key=lambda message: (message["timestamp"], message["filename"]))

    def mark_processed(self, agent_id: str, filename: str) -> bool:
        """Move a message out of the inbox. Return False if its sender withdrew it after the poll."""
        (self.root / agent_id / "processed").mkdir(parents=True, exist_ok=True)
        try:
            (self.root / agent_id / "inbox" / filename).rename(self.root / agent_id / "processed" / filename)
        except FileNotFoundError:
            if not _may_be_withdrawn(agent_id, filename):
                raise
            return False
        return True

    def list_online_agents(self) -> list[Json]:
        return [card for card in self._load().values() if card["status"] != "offline"]

    def get_agent(self, agent_id: str) -> Json | None:
        return self._load().get(agent_id)

    def _load(self) -> dict[str, Json]:
        return json.loads(self.registry.read_text()) if self.registry.exists() else {}

    def _save(self, agents: dict[str, Json]) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        _replace(self.registry, agents)


def _may_be_withdrawn(agent_id: str, filename: str) -> bool:
    """Return True if another agent wrote a file: Covey moves it out of the inbox when its sender withdraws it.

    Only the agent itself moves the mail that it sent to itself.
    """
    return not filename.endswith(f"_{agent_id}.msg.json")


def _replace(path: Path, content: Json) -> None:
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    unfinished.write_text(json.dumps(content, ensure_ascii=False, indent=2))
    unfinished.rename(path)


def card_of(agent_id: str, **fields: Any) -> Json:
    card = {
        "agent_id": agent_id,
        "description": "",
        "capabilities": [],
        "status": "idle",
        "allow_from": ["*"],
        "max_concurrent_tasks": 3,
        "current_tasks": [],
        "registered_at": now(),
        "last_heartbeat": now(),
    }
    return {**card, **fields}


def message_of(from_id: str, to_id: str, kind: str, text: str, at: int, **fields: Any) -> Json:
    message = {
        "id": f"msg_{at}_{from_id}",
        "from": from_id,
        "to": to_id,
        "timestamp": now(),
        "type": kind,
        "ttl": 3,
        "trace": [from_id],
        "content": {"parts": [{"type": "text", "text": text}]},
        "callback": {},
        "reply_to": None,
        "metadata": {},
    }
    return {**message, **fields}


def text_of(message: Json) -> str:
    return "\n".join(part["text"] for part in message["content"]["parts"] if part["type"] == "text")
