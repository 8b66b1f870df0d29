"""A program with a mailbox: agents that poll, accept tasks and report, as documented.

mailbox ROOT register AGENT · beat AGENT · agents · agent AGENT · poll AGENT · processed AGENT FILE
mailbox ROOT send FROM TO TEXT [TYPE]
mailbox ROOT coder AGENT          stay: accept each task, work, report to its sender; until the input ends
mailbox ROOT researcher AGENT TO TEXT   delegate a task, with its conversation, and print its updates
mailbox ROOT watch                read every file repeatedly until the input ends; then report
mailbox ROOT busy AGENT           register, beat, send and process without a pause until the input ends
"""

import json
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from tests.foreign.mailboxes import Json, MailboxManager, card_of, message_of, now, text_of
from tests.foreign.onlooker import BUSY_PAUSE_S, has_ended, watch

POLL_S = 0.005
CALLBACK = {"session_id": "feishu:user_123", "channel": "feishu"}


class Channel:
    """An agent that polls its mailbox."""

    def __init__(self, manager: MailboxManager, agent_id: str, refusal: str = "") -> None:
        self.manager = manager
        self.agent_id = agent_id
        self.refusal = refusal
        self.seconds = seconds()
        description = f"the {agent_id} of another program"
        manager.register(agent_id, card_of(agent_id, description=description))

    def poll(self) -> list[Json]:
        """Mark the new messages as processed, send a heartbeat, and return those that were not withdrawn meanwhile."""
        messages = [
            message
            for message in self.manager.poll(self.agent_id)
            if self.manager.mark_processed(self.agent_id, message["filename"])
        ]
        self.manager.heartbeat(self.agent_id)
        return messages

    def send(self, to_id: str, kind: str, text: str, **fields: Any) -> Json:
        at = next(self.seconds)
        message = message_of(self.agent_id, to_id, kind, text, at, **fields)
        self.manager.send(self.agent_id, to_id, message, at)
        return message

    def accept(self, task: Json) -> None:
        """Do a task, and report each of its states to its sender."""
        card = self.manager.get_agent(self.agent_id) or card_of(self.agent_id)
        deadline = task["task"]["deadline"]
        if "*" not in card["allow_from"] and task["from"] not in card["allow_from"]:
            return self.update(task, "rejected", "unauthorized")
        if len(card["current_tasks"]) >= card["max_concurrent_tasks"]:
            return self.update(task, "rejected", "busy")
        if deadline and deadline < now():
            return self.update(task, "rejected", "the deadline has passed")
        if self.refusal:
            return self.update(task, "rejected", self.refusal)
        self.update(task, "accepted", "")
        self.manager.update_status(self.agent_id, "busy", [task["task"]["id"]])
        self.update(task, "working", "")
        self.update(task, "completed", f"done: {text_of(task)}")
        return self.manager.update_status(self.agent_id, "idle", [])

    def update(self, task: Json, state: str, text: str) -> None:
        self.send(
            task["from"],
            "task_update",
            text,
            task={**task["task"], "state": state},
            callback=task["callback"],
            reply_to=task["id"],
        )


def seconds() -> Iterator[int]:
    """Yield the seconds since 1970, each once: a file name is unique for one message a second."""
    return count(int(time.time()))


def coder(channel: Channel) -> list[Json]:
    seen: list[Json] = []
    print("ready", flush=True)
    while not has_ended():
        for message in channel.poll():
            seen.append(message)
            if message["type"] == "task":
                channel.accept(message)
        time.sleep(POLL_S)
    channel.manager.update_status(channel.agent_id, "offline")
    return seen


def researcher(channel: Channel, to_id: str, text: str) -> list[Json]:
    """Delegate a task. Return its updates, up to the last."""
    at = next(channel.seconds)
    task_id = f"msg_{at}_{channel.agent_id}"
    task = {"id": task_id, "state": "pending", "deadline": None}
    message = message_of(channel.agent_id, to_id, "task", text, at, task=task, callback=CALLBACK)
    channel.manager.send(channel.agent_id, to_id, message, at)
    print("ready", flush=True)
    updates: list[Json] = []
    while not has_ended():
        updates += (m for m in channel.poll() if m["type"] == "task_update" and m["task"]["id"] == task_id)
        if updates and updates[-1]["task"]["state"] in ("completed", "failed", "rejected"):
            break
        time.sleep(POLL_S)
    return updates


def busy(channel: Channel) -> list[str]:
    """Act as a busy neighbour: mail to itself and to one of Covey's agents, processed, and a registry that is
    rewritten."""
    sent: list[str] = []
    print("ready", flush=True)
    while not has_ended(BUSY_PAUSE_S):
        for to_id in (channel.agent_id, "coder"):
            sent.append(channel.send(to_id, "message", f"number {len(sent)}")["id"])
        channel.poll()
        channel.manager.update_status(channel.agent_id, "busy" if len(sent) % 4 else "idle")
    return sent


def run(manager: MailboxManager, verb: str, words: list[str]) -> Any:
    match verb, words:
        case "register", [agent]:
            return manager.register(agent, card_of(agent))
        case "beat", [agent]:
            return manager.heartbeat(agent)
        case "agents", []:
            return manager.list_online_agents()
        case "agent", [agent]:
            return manager.get_agent(agent)
        case "poll", [agent]:
            return manager.poll(agent)
        case "processed", [agent, filename]:
            return manager.mark_processed(agent, filename)
        case "send", [sender, to, text, *kind]:
            at = int(time.time())
            return manager.send(sender, to, message_of(sender, to, kind[0] if kind else "message", text, at), at)
        case "coder", [agent, *refusal]:
            return coder(Channel(manager, agent, *refusal))
        case "researcher", [agent, to, text]:
            return researcher(Channel(manager, agent), to, text)
        case "busy", [agent]:
            return busy(Channel(manager, agent))
        case "watch", []:
            return watch(manager.root, ("_registry.json", "*/inbox/*.msg.json", "*/processed/*.msg.json"))
        case _:
            raise SystemExit(__doc__)


def main(root: str, verb: str, *words: str) -> None:
    print(json.dumps(run(MailboxManager(Path(root)), verb, list(words))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
