"""Causes: a message that names no message it answers is attributed to the one last shown from that recipient."""

from covey.core.ledger.draft import Draft
from covey.toolkits.tool import Caller


async def led(caller: Caller, draft: Draft) -> Draft:
    """Return the draft as part of the causal tree that made the model write it, so that a storm is recognised."""
    if draft.in_reply_to is not None or draft.relaying is not None:
        return draft
    return draft._replace(led_by=await caller.services.lately.leading(caller.identity.session, draft.to))
