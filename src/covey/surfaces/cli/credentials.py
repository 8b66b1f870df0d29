"""Credentials: the identity behind the token in COVEY_TOKEN, and the claims that such a call can't make."""

import os

from covey.core import authority
from covey.core.coroutine import finish
from covey.core.errors import BeyondToken, IdentityRefused
from covey.core.identity import Identity
from covey.core.names import parse_agent_name, parse_session_id
from covey.services.space import Services


def acting(services: Services, holder: Identity, claimed: str | None, about: str | None) -> Identity:
    """Return the holder of a token, in the session that COVEY_SESSION proves.

    A caller that claims another name is refused. For the operator, `about` names the agent in question. `claimed` is
    the speaker; only verbs that speak have it.
    """
    named = None if holder.is_operator else about or os.environ.get("COVEY_AGENT")
    for name in (claimed, named):
        if name is not None and parse_agent_name(name) != holder.agent:
            raise BeyondToken(holder.agent, f"act as {name}")
    proof = os.environ.get("COVEY_SESSION")
    if not proof or holder.is_operator:
        return holder
    session_id, _, secret = proof.partition(":")
    identity = finish(services.identities.by_secret(parse_session_id(session_id), secret))
    finish(services.directory.touch(identity))
    return holder._replace(session=identity.session)


def check_whole(holder: Identity | None, action: str) -> None:
    """Raise BeyondToken if the holder of an agent's token uses a verb that bypasses the services."""
    if holder is not None:
        authority.check_whole(holder, action)


def refuse_tokens(reason: str) -> None:
    """Raise IdentityRefused if COVEY_TOKEN is set for a command that can't check tokens."""
    if "COVEY_TOKEN" in os.environ:
        raise IdentityRefused(f"{reason}: unset COVEY_TOKEN")
