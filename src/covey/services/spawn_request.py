"""What a parent wants of a new child."""

from typing import NamedTuple

from covey.core.ids import MessageId
from covey.core.message import Callback
from covey.core.names import AgentName, Label
from covey.core.parts import FilePart
from covey.core.run import RunMode
from covey.ports.launching import PythonChild


class SpawnRequest(NamedTuple):
    """Toolkits and surfaces parse names and options into it."""

    task: str
    agent: AgentName | None = None
    """Whose child it is; None: the parent's own agent."""
    mode: RunMode = RunMode.RUN
    thread: bool | Callback = False
    """True: a new conversation, on the channel that the parent has to do with. Only a session has one, and has to."""
    time_limit: float | None = None
    """How many seconds it may take (runTimeoutSeconds)."""
    attachments: tuple[str | FilePart, ...] = ()
    """Paths of files, or snapshots of them."""
    label: Label | None = None
    description: str = ""
    is_sibling: bool = False
    """It is to be a child of the caller's own parent, who gets its result."""
    is_newcomer: bool = False
    """It is to be an agent of its own, with an automatic name and the card of the agent that it would be a child of: so
    that the two can write to each other by name."""
    relaying: MessageId | None = None
    """The message that the parent acts upon: the child is then of its causal tree, and spends one of its hops."""
    led_by: MessageId | None = None
    """The same where the parent only was led by it: no hop is spent, and one that was pruned meanwhile is none."""
    cwd: str | None = None
    """The parent's directory, which a child of its own agent inherits."""
    command: tuple[str, ...] = ()
    """The program of this child, instead of the one on its agent's card; an agent that is not known is then made."""
    python: PythonChild | None = None
    """An async callable instead of the program on the agent's card."""
