"""Who may do what to a message."""

from covey.core.errors import NotYours
from covey.core.identity import Identity
from covey.core.message import Message
from covey.core.names import AgentName


def check_recipient(actor: Identity, action: str, message: Message, recipient: AgentName) -> None:
    """Raise NotYours unless the actor is the recipient agent or the operator: they answer, archive and dismiss."""
    if actor.agent != recipient and not actor.is_operator:
        raise NotYours(action, message.id, actor.agent, recipient)


def check_sender(actor: Identity, action: str, message: Message) -> None:
    """Raise NotYours unless the actor sent the message, or is the operator: they withdraw and waive."""
    if actor.agent != message.sender.agent and not actor.is_operator:
        raise NotYours(action, message.id, actor.agent, message.sender.agent)
