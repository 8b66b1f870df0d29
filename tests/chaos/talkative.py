"""Spaces whose agents exchange messages at machine speed on purpose, without the storm limits."""

from covey.core.coroutine import finish
from covey.core.identity import Grade, Identity
from covey.core.limits import MAX_COUNT
from covey.core.names import OPERATOR
from covey.core.storms.budget import Limit
from covey.services.space import Services


def let_talk(services: Services) -> None:
    """Raise the limits of exchanges and of progress to their maximum."""
    operator = Identity(OPERATOR, None, Grade.TOKEN)
    finish(services.storms.set_limits({Limit.EXCHANGE: MAX_COUNT, Limit.PROGRESS: MAX_COUNT}, operator))
