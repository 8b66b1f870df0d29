"""Saying something to a session, as a Python program does: by its key, its label, or its id."""

from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ids import parse_session_id
from covey.core.message import Callback
from covey.core.names import is_uuid_like, parse_label
from covey.core.parts import TextPart
from covey.core.session import Session
from covey.core.session_key import parse_session_key
from covey.services.exchange import Exchange
from covey.services.space import Services
from covey.surfaces.python.checks import callback as parse_callback
from covey.surfaces.python.checks import is_unicode, seconds


async def say(
    services: Services, actor: Identity, to: str, text: object, timeout: float, callback: object = None
) -> Exchange:
    """Say something, and wait for the reply where there is a timeout."""
    session = await session_named(services, to)
    place: Callback | None = None if callback is None else parse_callback(callback)
    if not isinstance(text, str) or not text.strip() or not is_unicode(text):
        raise Invalid("text", text, "say something")
    parts = (TextPart(text),)
    return await services.negotiations.say(parts, session, actor, seconds(timeout, "timeout"), place)


async def session_named(services: Services, to: str) -> Session:
    """Return the live session that is meant."""
    if to.startswith("agent:"):
        return await services.directory.keyed(parse_session_key(to))
    if is_uuid_like(to):
        return await services.directory.session(parse_session_id(to))
    return await services.directory.labelled(parse_label(to))
