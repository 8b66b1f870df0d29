"""The catalogue of verbs: where each lives and what it is for. Reading it imports none of them."""

from typing import Final, NamedTuple


class Entry(NamedTuple):
    module: str
    """Under covey.surfaces.cli.verbs; a whole name where another surface brings the verb."""
    group: str
    summary: str
    json_only: bool = False
    """It writes JSON whether asked to or not: programs call it, and its form was agreed on elsewhere."""


GROUPS: Final = ("Space", "Mail", "Dialogue", "Tasks", "Children", "Ledger", "Operation")

VERBS: Final[dict[str, Entry]] = {
    "init": Entry("init", "Space", "make a space in this folder; it keeps itself out of git"),
    "join": Entry("join", "Space", "start a session of an agent, for a shell to act as"),
    "leave": Entry("leave", "Space", "end a session; what it has not handled waits for the next one"),
    "agents": Entry("agents", "Space", "list the agents: who is idle, busy or offline"),
    "send": Entry("send", "Mail", "send a message to an agent, a session or everyone"),
    "reply": Entry("reply", "Mail", "answer a message"),
    "ask": Entry("ask", "Mail", "ask an agent and wait for the answer"),
    "approve": Entry("approve", "Mail", "approve what a message asks to be approved"),
    "reject": Entry("reject", "Mail", "reject what a message asks to be approved, and say why"),
    "inbox": Entry("inbox", "Mail", "look at what waits for an agent; looking changes nothing"),
    "watch": Entry("watch", "Mail", "see what arrives and what changes, as it happens"),
    "handle": Entry("handle", "Mail", "mark messages as handled: they leave the inbox"),
    "dismiss": Entry("dismiss", "Mail", "let messages go without doing anything about them"),
    "withdraw": Entry("withdraw", "Mail", "take back a message that nobody was shown"),
    "search": Entry("search", "Mail", "find messages by their words"),
    "thread": Entry("thread", "Dialogue", "show the whole dialogue that a message is in"),
    "owed": Entry("owed", "Dialogue", "list the answers that an agent owes, or waits for"),
    "gate": Entry("gate", "Dialogue", "check that nothing in a scope is still owed"),
    "archive": Entry("archive", "Dialogue", "put a message away; a request must have been answered"),
    "sweep": Entry("sweep", "Dialogue", "put all messages of a scope away that owes nothing"),
    "messages-send": Entry("messages_send", "Dialogue", "send a message of a task, for agent loops", json_only=True),
    "messages-inbox": Entry("messages_inbox", "Dialogue", "list what an agent has not archived", json_only=True),
    "messages-archive": Entry("messages_archive", "Dialogue", "archive a message of a task", json_only=True),
    "messages-thread": Entry("messages_thread", "Dialogue", "list a reply chain in causal order", json_only=True),
    "delegate": Entry("delegate", "Tasks", "hand work to an agent, and wait for the result"),
    "tasks": Entry("tasks", "Tasks", "list the tasks, or watch them on a board"),
    "task": Entry("task", "Tasks", "show a task: its history, files, result and tree"),
    "accept": Entry("accept", "Tasks", "say yes to a task; `covey reject` says no"),
    "update": Entry("update", "Tasks", "start a task, tell its progress, complete or fail it"),
    "cancel": Entry("cancel", "Tasks", "take back a task that is not finished"),
    "work": Entry("work", "Tasks", "keep an agent on duty: run a program for each of its tasks"),
    "spawn": Entry("spawn", "Children", "start a child for a task, and wait for its result"),
    "sessions": Entry("sessions", "Children", "show the live sessions and their children as a tree"),
    "say": Entry("say", "Children", "say something to one session, and wait for its answer"),
    "stop": Entry("stop", "Children", "stop a child, wherever it runs"),
    "waits": Entry("waits", "Ledger", "show who waits for whom, and circles"),
    "receipt": Entry("receipt", "Ledger", "show how far each copy of a message got, and on what evidence"),
    "log": Entry("log", "Ledger", "read the journal: what happened, and who did it"),
    "channels": Entry("channels", "Operation", "reach people: on a console, by webhook, both ways"),
    "storms": Entry("storms", "Operation", "show what was stopped because it grew or repeated too much"),
    "pause": Entry("pause", "Operation", "let an agent, or the whole space, do nothing for a while"),
    "resume": Entry("resume", "Operation", "let an agent, or the whole space, go on"),
    "token": Entry("token", "Operation", "make, list and revoke tokens, which prove who acts"),
    "nats": Entry("nats", "Operation", "write a NATS server's permissions; bridge to plain programs"),
    "tools": Entry("tools", "Operation", "show the tools that a model can be given"),
    "mcp": Entry("covey.surfaces.mcp.verb", "Operation", "serve the tools to an MCP client, on stdio or HTTP"),
    "doctor": Entry("doctor", "Operation", "find, explain and mend what is wrong with a space"),
    "prune": Entry("prune", "Operation", "remove closed scopes that are old; what is open stays"),
    "backup": Entry("backup", "Operation", "copy the space to one file while others use it"),
    "restore": Entry("restore", "Operation", "make a space again from a backup"),
    "export": Entry("export", "Operation", "write all that the space holds to a file"),
    "import": Entry("import_", "Operation", "take in what `covey export` wrote"),
    "move": Entry("move", "Operation", "take the space to another store, of whatever kind"),
    "demo": Entry("demo", "Operation", "watch six processes talk, with the ledger's states"),
    "help": Entry("help", "Operation", "explain a verb or a topic"),
    "completion": Entry("completion", "Operation", "complete verbs, options and agents in your shell"),
    "version": Entry("version", "Operation", "show the versions of Covey and of what it runs on"),
}
