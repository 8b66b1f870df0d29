"""The spawn request: a parent's wishes for a new child."""

from typing import NamedTuple

from covey.core.ledger.message import Callback, FilePart
from covey.core.names import AgentName, Label, MessageId
from covey.core.work.run import RunMode
from covey.ports.children import PythonChild


class SpawnRequest(NamedTuple):
    """The parsed names and options of a spawn, as given by toolkits and surfaces."""

    task: str
    agent: AgentName | None = None
    """The agent of the child. None: the parent's own agent."""
    mode: RunMode = RunMode.RUN
    thread: bool | Callback = False
    """True: a new conversation, on a channel that the parent is connected with. A child in mode session
    needs one, and a child in mode run has none."""
    time_limit: float | None = None
    """The seconds that the child may take (runTimeoutSeconds)."""
    attachments: tuple[str | FilePart, ...] = ()
    """Paths of files, or snapshots of them."""
    label: Label | None = None
    description: str = ""
    is_sibling: bool = False
    """True for a child of the caller's own parent, who gets its result."""
    is_newcomer: bool = False
    """True for a child that is an agent of its own, with an automatic name and the card of the agent it would otherwise
    belong to, so that the two can write to each other by name."""
    relaying: MessageId | None = None
    """The message that the parent acts upon. The child then belongs to its causal tree, and spends one of its hops."""
    led_by: MessageId | None = None
    """Like `relaying`, but only a hint: no hop is spent, and a pruned message is ignored."""
    cwd: str | None = None
    """The parent's directory, which a child of its own agent inherits."""
    command: tuple[str, ...] = ()
    """The program of this child, instead of the one on its agent's card. An unknown agent is then registered."""
    python: PythonChild | None = None
    """An async callable instead of the program on the agent's card."""
