"""The mail line: what waits for a client's model, at the end of a tool's result, where no hook shows it."""

import logging
from typing import Final

from covey.core.attention import Terms
from covey.core.errors import CoveyError
from covey.core.ids import OfferId
from covey.core.render import Style, framed
from covey.toolkits.tool import Caller, Toolkit

BUDGET: Final = 4_000
"""Characters, the frame included: some 1,000 tokens of a result that was asked for something else."""

LIMIT: Final = 8
"""Messages."""

TURN: Final = "the result of a tool"

_log = logging.getLogger(__name__)


async def mail_line(caller: Caller, toolkit: Toolkit) -> tuple[str, OfferId | None]:
    """Return what waits, framed, with the offer that it is; nothing where nothing waits, or where hooks show it."""
    if caller.identity.session is None:
        return "", None
    try:
        if not await caller.services.clients.lacks_mail(
            caller.identity, toolkit.presentation, takes_tasks=bool(toolkit.ways.task)
        ):
            return "", None
        terms = Terms(budget=BUDGET, limit=LIMIT, presentation=toolkit.presentation, ways=toolkit.ways)
        pending = await caller.services.attention.take(caller.identity, TURN, terms)
    except CoveyError as error:
        # What the tool did is done, and its answer must not be lost for this. The mail waits.
        _log.warning("mail was not shown: %s", error.message)
        return "", None
    alone = pending._replace(others=(), more_others=0)
    return (framed(alone, Style.COMPACT), pending.offer) if pending.letters else ("", None)
