"""The catalogue of verbs: the module and the purpose of each.

Reading the catalogue imports none of the verbs.
"""

from enum import Enum, auto
from typing import Final, NamedTuple


class Use(Enum):
    """The way in which a verb uses a space. Only a verb that makes a space runs if there is none."""

    NOTHING = auto()
    """The verb needs no space, or names its own."""
    GUARDS = auto()
    """The verb only reads, and its exit code lets another program continue.

    So it does not fall back to the home folder's space.
    """
    LOOKS = auto()
    """Unless options say otherwise, the verb only reads: it makes, moves and marks nothing."""
    EXAMINES = auto()
    """The verb reads whatever exists, and itself reports missing parts."""
    ACTS = auto()
    """The verb changes records of a space."""
    MAKES = auto()
    """The verb can be the first command of a space: it creates a missing space and says so."""


class VerbEntry(NamedTuple):
    module: str
    """Name under covey.surfaces.cli.verbs, or a full module name if another surface brings the verb."""
    group: str
    use: Use
    summary: str
    json_only: bool = False
    """True if the verb always writes JSON: programs call it, and its format was agreed on elsewhere."""


GROUPS: Final = ("Space", "Mail", "Dialogue", "Tasks", "Children", "Ledger", "Operation")

VERBS: Final[dict[str, VerbEntry]] = {
    "init": VerbEntry("init", "Space", Use.MAKES, "make a space in this folder; it keeps itself out of git"),
    "join": VerbEntry("join", "Space", Use.MAKES, "start a session of an agent, for a shell to act as"),
    "leave": VerbEntry("leave", "Space", Use.ACTS, "end a session; what it has not handled waits for the next one"),
    "agents": VerbEntry("agents", "Space", Use.LOOKS, "list the agents: who is idle, busy or offline"),
    "send": VerbEntry("send", "Mail", Use.MAKES, "send a message to an agent, a session or everyone"),
    "reply": VerbEntry("reply", "Mail", Use.ACTS, "answer a message"),
    "ask": VerbEntry("ask", "Mail", Use.MAKES, "ask an agent and wait for the answer"),
    "approve": VerbEntry("approve", "Mail", Use.ACTS, "approve what a message asks to be approved"),
    "reject": VerbEntry("reject", "Mail", Use.ACTS, "reject what a message asks to be approved, and say why"),
    "inbox": VerbEntry("inbox", "Mail", Use.LOOKS, "look at what waits for an agent; looking changes nothing"),
    "watch": VerbEntry("watch", "Mail", Use.LOOKS, "see what arrives and what changes, as it happens"),
    "handle": VerbEntry("handle", "Mail", Use.ACTS, "mark messages as handled: they leave the inbox"),
    "dismiss": VerbEntry("dismiss", "Mail", Use.ACTS, "let messages go without doing anything about them"),
    "withdraw": VerbEntry("withdraw", "Mail", Use.ACTS, "take back a message that nobody was shown"),
    "search": VerbEntry("search", "Mail", Use.LOOKS, "find messages by their words"),
    "thread": VerbEntry("thread", "Dialogue", Use.LOOKS, "show the whole dialogue that a message is in"),
    "owed": VerbEntry("owed", "Dialogue", Use.LOOKS, "list the answers that an agent owes, or waits for"),
    "gate": VerbEntry("gate", "Dialogue", Use.GUARDS, "check that nothing in a scope is still owed"),
    "archive": VerbEntry("archive", "Dialogue", Use.ACTS, "put a message away; a request must have been answered"),
    "sweep": VerbEntry("sweep", "Dialogue", Use.ACTS, "put all messages of a scope away that owes nothing"),
    "messages-send": VerbEntry(
        "messages_send", "Dialogue", Use.MAKES, "send a message of a task, for agent loops", json_only=True
    ),
    "messages-inbox": VerbEntry(
        "messages_inbox", "Dialogue", Use.LOOKS, "list what an agent has not archived", json_only=True
    ),
    "messages-archive": VerbEntry(
        "messages_archive", "Dialogue", Use.ACTS, "archive a message of a task", json_only=True
    ),
    "messages-thread": VerbEntry(
        "messages_thread", "Dialogue", Use.LOOKS, "list a reply chain in causal order", json_only=True
    ),
    "delegate": VerbEntry("delegate", "Tasks", Use.MAKES, "hand work to an agent, and wait for the result"),
    "tasks": VerbEntry("tasks", "Tasks", Use.LOOKS, "list the tasks, or watch them on a board"),
    "task": VerbEntry("task", "Tasks", Use.LOOKS, "show a task: its history, files, result and tree"),
    "accept": VerbEntry("accept", "Tasks", Use.ACTS, "say yes to a task; `covey reject` says no"),
    "update": VerbEntry("update", "Tasks", Use.ACTS, "start a task, tell its progress, complete or fail it"),
    "cancel": VerbEntry("cancel", "Tasks", Use.ACTS, "take back a task that is not finished"),
    "work": VerbEntry("work", "Tasks", Use.MAKES, "keep an agent on duty: run a program for each of its tasks"),
    "spawn": VerbEntry("spawn", "Children", Use.MAKES, "start a child for a task, and wait for its result"),
    "sessions": VerbEntry("sessions", "Children", Use.LOOKS, "show the live sessions and their children as a tree"),
    "say": VerbEntry("say", "Children", Use.ACTS, "say something to one session, and wait for its answer"),
    "stop": VerbEntry("stop", "Children", Use.ACTS, "stop a child, wherever it runs"),
    "waits": VerbEntry("waits", "Ledger", Use.LOOKS, "show who waits for whom, and circles"),
    "receipt": VerbEntry(
        "receipt", "Ledger", Use.LOOKS, "show how far each copy of a message got, and on what evidence"
    ),
    "log": VerbEntry("log", "Ledger", Use.LOOKS, "read the journal: what happened, and who did it"),
    "channels": VerbEntry("channels", "Operation", Use.ACTS, "reach people: on a console, by webhook, both ways"),
    "storms": VerbEntry("storms", "Operation", Use.ACTS, "show what was stopped because it grew or repeated too much"),
    "pause": VerbEntry("pause", "Operation", Use.ACTS, "let an agent, or the whole space, do nothing for a while"),
    "resume": VerbEntry("resume", "Operation", Use.ACTS, "let an agent, or the whole space, go on"),
    "token": VerbEntry("token", "Operation", Use.ACTS, "make, list and revoke tokens, which prove who acts"),
    "nats": VerbEntry("nats", "Operation", Use.NOTHING, "write a NATS server's permissions; bridge to plain programs"),
    "tools": VerbEntry("tools", "Operation", Use.NOTHING, "show the tools that a model can be given"),
    "mcp": VerbEntry(
        "covey.surfaces.mcp.verb", "Operation", Use.MAKES, "serve the tools to an MCP client, on stdio or HTTP"
    ),
    "doctor": VerbEntry("doctor", "Operation", Use.EXAMINES, "find, explain and mend what is wrong with a space"),
    "prune": VerbEntry("prune", "Operation", Use.ACTS, "remove closed scopes that are old; what is open stays"),
    "backup": VerbEntry("backup", "Operation", Use.LOOKS, "copy the space to one file while others use it"),
    "restore": VerbEntry("restore", "Operation", Use.MAKES, "make a space again from a backup"),
    "export": VerbEntry("export", "Operation", Use.LOOKS, "write all that the space holds to a file"),
    "import": VerbEntry("import_", "Operation", Use.MAKES, "take in what `covey export` wrote"),
    "move": VerbEntry("move", "Operation", Use.NOTHING, "take the space to another store, of whatever kind"),
    "demo": VerbEntry("demo", "Operation", Use.NOTHING, "watch six processes talk, with the ledger's states"),
    "help": VerbEntry("help", "Operation", Use.NOTHING, "explain a verb or a topic"),
    "completion": VerbEntry("completion", "Operation", Use.NOTHING, "complete verbs, options and agents in your shell"),
    "version": VerbEntry("version", "Operation", Use.NOTHING, "show the versions of Covey and of what it runs on"),
}
