"""The catalogue of verbs: the home and the purpose of each.

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
    home: str
    """The module and the constant of the verb, as `module:CONSTANT`.

    The module is named from `covey.surfaces.cli` on, or in full if another surface brings the verb.
    """
    group: str
    use: Use
    summary: str
    json_only: bool = False
    """True if the verb always writes JSON: programs call it, and its format was agreed on elsewhere."""


GROUPS: Final = ("Space", "Mail", "Dialogue", "Tasks", "Children", "Ledger", "Operation")

VERBS: Final[dict[str, VerbEntry]] = {
    "init": VerbEntry("space.init:INIT", "Space", Use.MAKES, "make a space in this folder; it keeps itself out of git"),
    "join": VerbEntry("space.session:JOIN", "Space", Use.MAKES, "start a session of an agent, for a shell to act as"),
    "leave": VerbEntry(
        "space.session:LEAVE", "Space", Use.ACTS, "end a session; unhandled mail waits for the next one"
    ),
    "agents": VerbEntry(
        "space.agents:AGENTS", "Space", Use.LOOKS, "list the agents and their presence: idle, busy, offline"
    ),
    "status": VerbEntry("space.status:STATUS", "Space", Use.LOOKS, "show the whole space on one screen, once or live"),
    "top": VerbEntry("space.top:TOP", "Space", Use.LOOKS, "browse the space live: agents, questions and threads"),
    "send": VerbEntry("mail.send:SEND", "Mail", Use.MAKES, "send a message to an agent, a session or everyone"),
    "reply": VerbEntry("mail.send:REPLY", "Mail", Use.ACTS, "answer a message, and close its question"),
    "ask": VerbEntry("mail.ask:ASK", "Mail", Use.MAKES, "ask an agent and wait for the answer"),
    "approve": VerbEntry("mail.settlement:APPROVE", "Mail", Use.ACTS, "approve the request in a message"),
    "reject": VerbEntry(
        "mail.settlement:REJECT", "Mail", Use.ACTS, "reject the request in a message, or a task, with a reason"
    ),
    "inbox": VerbEntry(
        "mail.inbox:INBOX", "Mail", Use.LOOKS, "list the waiting messages of an agent; mark none as read"
    ),
    "watch": VerbEntry("ledger.journal:WATCH", "Mail", Use.LOOKS, "show messages and changes as they happen"),
    "handle": VerbEntry("mail.settlement:HANDLE", "Mail", Use.ACTS, "mark messages as handled: they leave the inbox"),
    "dismiss": VerbEntry(
        "mail.settlement:DISMISS", "Mail", Use.ACTS, "remove messages from the inbox without an answer"
    ),
    "withdraw": VerbEntry(
        "mail.send:WITHDRAW", "Mail", Use.ACTS, "take back a message before its recipients have seen it"
    ),
    "search": VerbEntry("mail.messages:SEARCH", "Mail", Use.LOOKS, "find messages by their words"),
    "thread": VerbEntry("mail.messages:THREAD", "Dialogue", Use.LOOKS, "show the whole dialogue of a message"),
    "owed": VerbEntry("dialogue.gate:OWED", "Dialogue", Use.LOOKS, "list the unanswered questions of an agent"),
    "gate": VerbEntry("dialogue.gate:GATE", "Dialogue", Use.GUARDS, "check that no question in a scope is open"),
    "archive": VerbEntry(
        "mail.settlement:ARCHIVE", "Dialogue", Use.ACTS, "put a message away; a request must have been answered"
    ),
    "sweep": VerbEntry(
        "dialogue.gate:SWEEP", "Dialogue", Use.ACTS, "put away all messages of a scope without open questions"
    ),
    "messages-send": VerbEntry(
        "dialogue.agent_loops:MESSAGES_SEND",
        "Dialogue",
        Use.MAKES,
        "send a message of a task, for agent loops",
        json_only=True,
    ),
    "messages-inbox": VerbEntry(
        "dialogue.agent_loops:MESSAGES_INBOX",
        "Dialogue",
        Use.LOOKS,
        "list the messages that an agent has not archived",
        json_only=True,
    ),
    "messages-archive": VerbEntry(
        "dialogue.agent_loops:MESSAGES_ARCHIVE", "Dialogue", Use.ACTS, "archive a message of a task", json_only=True
    ),
    "messages-thread": VerbEntry(
        "dialogue.agent_loops:MESSAGES_THREAD",
        "Dialogue",
        Use.LOOKS,
        "list a reply chain in causal order",
        json_only=True,
    ),
    "delegate": VerbEntry(
        "tasks.delegate:DELEGATE", "Tasks", Use.MAKES, "delegate a task to an agent and wait for the result"
    ),
    "tasks": VerbEntry("tasks.listing:TASKS", "Tasks", Use.LOOKS, "list the tasks, or watch them on a board"),
    "task": VerbEntry("tasks.task:TASK", "Tasks", Use.LOOKS, "show a task: its history, files, result and tree"),
    "accept": VerbEntry("tasks.moves:ACCEPT", "Tasks", Use.ACTS, "accept a task; `covey reject` rejects it"),
    "update": VerbEntry("tasks.moves:UPDATE", "Tasks", Use.ACTS, "start a task, report progress, complete or fail it"),
    "cancel": VerbEntry("tasks.moves:CANCEL", "Tasks", Use.ACTS, "cancel a task that is not finished"),
    "work": VerbEntry("tasks.work:WORK", "Tasks", Use.MAKES, "keep an agent on duty: run a program for each task"),
    "spawn": VerbEntry(
        "children.spawn:SPAWN", "Children", Use.MAKES, "start a child for a task, and wait for its result"
    ),
    "sessions": VerbEntry(
        "children.sessions:SESSIONS", "Children", Use.LOOKS, "show the live sessions and their children as a tree"
    ),
    "say": VerbEntry("children.say:SAY", "Children", Use.ACTS, "say something to one session, and wait for its answer"),
    "stop": VerbEntry("children.sessions:STOP", "Children", Use.ACTS, "stop a child, wherever it runs"),
    "waits": VerbEntry("ledger.waits:WAITS", "Ledger", Use.LOOKS, "show who waits for whom, and circles"),
    "receipt": VerbEntry(
        "ledger.receipt:RECEIPT", "Ledger", Use.LOOKS, "show the state of each copy of a message, with its evidence"
    ),
    "log": VerbEntry("ledger.journal:LOG", "Ledger", Use.LOOKS, "show the journal: one line for each event"),
    "graph": VerbEntry(
        "ledger.graph:GRAPH", "Ledger", Use.LOOKS, "draw the messages between agents, a thread or a tree of tasks"
    ),
    "channels": VerbEntry(
        "channels.verb:CHANNELS", "Operation", Use.ACTS, "reach people: on a console, by webhook, both ways"
    ),
    "storms": VerbEntry(
        "operation.storms:STORMS",
        "Operation",
        Use.ACTS,
        "list exchanges that were stopped because they grew or repeated",
    ),
    "pause": VerbEntry("space.agents:PAUSE", "Operation", Use.ACTS, "pause an agent, or the whole space"),
    "resume": VerbEntry(
        "space.agents:RESUME", "Operation", Use.ACTS, "end the pause of an agent, or of the whole space"
    ),
    "token": VerbEntry(
        "operation.token:TOKEN", "Operation", Use.ACTS, "make, list and revoke tokens, which prove the acting agent"
    ),
    "nats": VerbEntry(
        "operation.nats:NATS", "Operation", Use.NOTHING, "write a NATS server's permissions; bridge to plain programs"
    ),
    "tools": VerbEntry("operation.tools:TOOLS", "Operation", Use.NOTHING, "show the tools that a model can be given"),
    "mcp": VerbEntry(
        "covey.surfaces.mcp.verb:MCP", "Operation", Use.MAKES, "serve the tools to an MCP client, on stdio or HTTP"
    ),
    "doctor": VerbEntry(
        "operation.doctor:DOCTOR", "Operation", Use.EXAMINES, "find, explain and repair problems of a space"
    ),
    "prune": VerbEntry("operation.prune:PRUNE", "Operation", Use.ACTS, "remove old scopes in which nothing is open"),
    "backup": VerbEntry(
        "operation.backup:BACKUP", "Operation", Use.LOOKS, "copy the space to one file while others use it"
    ),
    "restore": VerbEntry("operation.backup:RESTORE", "Operation", Use.MAKES, "make a space again from a backup"),
    "export": VerbEntry("operation.transfer:EXPORT", "Operation", Use.LOOKS, "write everything in the space to a file"),
    "import": VerbEntry("operation.transfer:IMPORT", "Operation", Use.MAKES, "import a file that `covey export` wrote"),
    "move": VerbEntry(
        "operation.transfer:MOVE", "Operation", Use.NOTHING, "move the space to another store of any kind"
    ),
    "demo": VerbEntry("demo.verb:DEMO", "Operation", Use.NOTHING, "watch six processes talk, with the ledger's states"),
    "help": VerbEntry("operation.help:HELP", "Operation", Use.NOTHING, "explain a verb or a topic"),
    "completion": VerbEntry(
        "operation.completion:COMPLETION", "Operation", Use.NOTHING, "complete verbs, options and agents in your shell"
    ),
    "version": VerbEntry(
        "operation.help:VERSION", "Operation", Use.NOTHING, "show the versions of Covey, Python and SQLite"
    ),
}
