"""The catalogue of verbs: where each lives and what it is for. Reading it imports none of them."""

from typing import Final, NamedTuple


class Entry(NamedTuple):
    module: str
    """Under covey.surfaces.cli.verbs."""
    group: str
    summary: str


GROUPS: Final = ("Space", "Mail", "Dialogue", "Ledger", "Operation")

VERBS: Final[dict[str, Entry]] = {
    "init": Entry("init", "Space", "make a space in this folder; it keeps itself out of git"),
    "agents": Entry("agents", "Space", "list the agents: who is idle, busy or offline"),
    "send": Entry("send", "Mail", "send a message to an agent, a session or everyone"),
    "reply": Entry("reply", "Mail", "answer a message"),
    "inbox": Entry("inbox", "Mail", "look at what waits for an agent; looking changes nothing"),
    "thread": Entry("thread", "Dialogue", "show the whole dialogue that a message is in"),
    "owed": Entry("owed", "Dialogue", "list the answers that an agent owes, or waits for"),
    "gate": Entry("gate", "Dialogue", "check that nothing in a scope is still owed"),
    "archive": Entry("archive", "Dialogue", "put a message away; a request must have been answered"),
    "receipt": Entry("receipt", "Ledger", "show how far each copy of a message got, and on what evidence"),
    "log": Entry("log", "Ledger", "read the journal: what happened, and who did it"),
    "version": Entry("version", "Operation", "show the versions of Covey and of what it runs on"),
}
