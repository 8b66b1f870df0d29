"""Spaces whose agents talk at machine speed on purpose, and must not be stopped for it."""

from covey.core.drive import finish
from covey.core.identity import Grade, Identity
from covey.core.limits import MAX_COUNT
from covey.core.names import OPERATOR
from covey.core.storms.budget import Limit
from covey.services.space import Services


def let_talk(services: Services) -> None:
    """Raise the limits of exchanges and of progress as far as they go."""
    operator = Identity(OPERATOR, None, Grade.TOKEN)
    finish(services.storms.set_limits({Limit.EXCHANGE: MAX_COUNT, Limit.PROGRESS: MAX_COUNT}, operator))
