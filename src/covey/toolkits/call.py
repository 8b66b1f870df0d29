"""Tool calls: whatever a model sends, it gets an answer that it can act on."""

from covey.core.errors import CoveyError, NotFound, NumberUnknown, RecipientUnknown
from covey.toolkits.answers import refused, rendered
from covey.toolkits.arguments import checked
from covey.toolkits.references import listed_numbers, numbers_of
from covey.toolkits.tool import Answer, Caller, Tool
from covey.toolkits.wording import listed


async def call(tool: Tool, caller: Caller, sent: object) -> Answer:
    """Execute a call. An error is returned as an answer, and never raised."""
    try:
        if caller.capacity is not None:
            await caller.services.inbox_limits.hold(caller.identity, caller.capacity)
        return rendered(await tool.run(caller, checked(tool, sent)))
    except RecipientUnknown as error:
        return refused(error, await _whom_else(caller))
    except NumberUnknown as error:
        return refused(error, await _what_else(caller))
    except CoveyError as error:
        return refused(error)


async def _whom_else(caller: Caller) -> str:
    """Return a hint with the agents that can be written to instead."""
    known = [name for name in await caller.services.directory.names() if name != caller.identity.agent]
    return f"Known are: {listed(known)}." if known else "Nobody else is known here yet."


async def _what_else(caller: Caller) -> str:
    """Return a hint with the numbers that can be used instead."""
    try:
        return listed_numbers(await numbers_of(caller))
    except NotFound:  # the caller itself is not known here, so that it has no mail
        return ""
