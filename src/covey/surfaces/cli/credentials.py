"""Credentials: who acts by the token in COVEY_TOKEN, and what such a call can't pretend."""

import os

from covey.core import authority
from covey.core.errors import BeyondToken, IdentityRefused
from covey.core.identity import Identity
from covey.core.ids import parse_session_id
from covey.core.names import parse_agent_name
from covey.engines import is_there
from covey.services.space import Services
from covey.surfaces.cli.call import Call


def holder_of(call: Call, token: str) -> Identity:
    """Return whom the token stands for. A space that is not there knows none, and is not made for that."""
    if not is_there(call.url):
        raise IdentityRefused(f"there is no space at {call.url}, and so no token of it")
    return call.run(Services(call.ports).identities.by_token(token))


def acting(call: Call, holder: Identity, claimed: str | None) -> Identity:
    """Return the holder, in the session of its own that COVEY_SESSION proves. Whoever says to be somebody else is
    refused. For the operator --agent says whom it is about, and --from is still who speaks."""
    about = None if holder.is_operator else call.options.agent or os.environ.get("COVEY_AGENT")
    for name in (claimed, about):
        if name is not None and parse_agent_name(name) != holder.agent:
            raise BeyondToken(holder.agent, f"act as {name}")
    proof = os.environ.get("COVEY_SESSION")
    if not proof or holder.is_operator:
        return holder
    session_id, _, secret = proof.partition(":")
    identity = call.run(call.services.identities.by_secret(parse_session_id(session_id), secret))
    call.run(call.services.directory.touch(identity))
    return holder._replace(session=identity.session)


def check_whole(call: Call, action: str) -> None:
    """Raise BeyondToken where an agent's token would be used for a verb that goes past the services."""
    if call.holder is not None:
        authority.check_whole(call.holder, action)


def refuse_tokens(reason: str) -> None:
    """Raise IdentityRefused where a token is shown that can't be asked for."""
    if "COVEY_TOKEN" in os.environ:
        raise IdentityRefused(f"{reason}: unset COVEY_TOKEN")
