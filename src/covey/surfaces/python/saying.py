"""Negotiation in the Python API: texts to a session, named by its key, label or id."""

from covey.core.address import parse_session_key
from covey.core.checks import callback as parse_callback
from covey.core.checks import is_unicode, seconds
from covey.core.checks import text as parse_text
from covey.core.directory.session import Session
from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ids import parse_session_id
from covey.core.ledger.message import Callback, TextPart
from covey.core.names import is_uuid_like, parse_label
from covey.ports.store import Operation
from covey.services.dialogue.exchange import Exchange
from covey.services.directory.session_lookup import SessionLookup
from covey.services.space import Services


async def say(
    services: Services, actor: Identity, to: str, text: object, timeout: float, callback: object = None
) -> Exchange:
    """Send a text to a session. With a timeout above 0, wait for the reply."""
    place: Callback | None = None if callback is None else parse_callback(callback)
    if not isinstance(text, str) or not text.strip() or not is_unicode(text):
        raise Invalid("text", text, "say something")
    parts = (TextPart(text),)
    whom = _meant(services.directory.lookup, parse_text(to, "recipient"))
    return await services.negotiations.say(parts, whom, actor, seconds(timeout, "timeout"), place)


def _meant(lookup: SessionLookup, to: str) -> Operation[Session]:
    if to.startswith("agent:"):
        return lookup.by_key(parse_session_key(to))
    if is_uuid_like(to):
        return lookup.by_id(parse_session_id(to))
    return lookup.by_label(parse_label(to))
