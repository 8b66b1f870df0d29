"""Permissions of the users of a space on a NATS server, as the server's own configuration.

An agent may append to the log only on its own subject, so that the server itself refuses a forged sender. An agent may
not create consumers, because the server would deliver to any subject that a consumer names.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from covey.core.errors import Invalid
from covey.core.formats.nats_names import (
    ANYONE,
    INBOX_STREAM,
    SpaceName,
    bulk_bucket,
    bulk_stream,
    lease_bucket,
    lease_stream,
    log_stream,
    log_subject,
    snapshot_bucket,
    snapshot_stream,
    told_subjects,
    want_subject,
    want_subjects,
)
from covey.core.formats.peers import INBOX_SUBJECT_PREFIX
from covey.core.names import OPERATOR, AgentName, is_reserved

PEERS: Final = "peers"
"""The user for programs that know only the subjects of inboxes."""


class NatsUser(NamedTuple):
    """A user that the server knows by a public key."""

    name: str
    public: str


class Rights(NamedTuple):
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def check_nats_agent(agent: AgentName) -> AgentName:
    """Return the agent. Raise Invalid if its name has another meaning on the server."""
    if agent in (ANYONE, PEERS) or is_reserved(agent):
        raise Invalid("agent", agent, "on a NATS server the name is reserved; the operator needs no entry")
    return agent


def rights_of(space: SpaceName, user: NatsUser, *, bridge: bool) -> Rights:
    """Return the rights of a user: an agent, the operator, or programs that know only the subjects of inboxes."""
    inbox, peers = f"_INBOX.{user.public}.>", f"{INBOX_SUBJECT_PREFIX}.*"
    if user.name == PEERS:
        return Rights((peers,), (peers, "_INBOX.>"))
    is_operator = user.name == OPERATOR
    streams = _streams(space, bridge=bridge)
    buckets = [f"$O.{bulk_bucket(space)}", *([f"$O.{snapshot_bucket(space)}"] if is_operator else [])]
    whose = "" if is_operator else f"{user.name}."
    publish = (
        log_subject(space, "*" if is_operator else user.name),
        want_subject(space, "*" if is_operator else user.name),
        f"$KV.{lease_bucket(space)}.{whose}>",
        *(f"{bucket}.{part}.>" for bucket in buckets for part in ("C", "M")),
        *((peers,) if bridge else ()),
        "$JS.API.INFO",
        *(f"$JS.API.STREAM.{'*' if is_operator else 'INFO'}.{stream}" for stream in streams),
        *(f"$JS.API.STREAM.MSG.GET.{stream}" for stream in streams),
        *(f"$JS.API.DIRECT.GET.{stream}{rest}" for stream in streams for rest in ("", ".>")),
        "$SYS.REQ.USER.INFO",
    )
    subscribe = (
        inbox,
        told_subjects(space),
        want_subjects(space),
        f"$KV.{lease_bucket(space)}.>",
        *((peers,) if bridge else ()),
    )
    return Rights(publish, subscribe)


def server_configuration(space: SpaceName, users: Sequence[NatsUser], *, bridge: bool) -> str:
    """Return the part of a server's configuration that declares these users."""
    blocks = [_user(space, user, bridge=bridge) for user in users]
    names = ", ".join(user.name for user in users)
    return "\n".join(
        (
            f"# The users of the space {space}: {names}.",
            "# Include it in the configuration of every server: include ./permissions.conf",
            "authorization {",
            "  users = [",
            *blocks,
            "  ]",
            "}",
        )
    )


def _streams(space: SpaceName, *, bridge: bool) -> Sequence[str]:
    own = (log_stream(space), lease_stream(space), bulk_stream(space), snapshot_stream(space))
    return (*own, INBOX_STREAM) if bridge else own


_ABOUT: Final[Mapping[str, str]] = {
    OPERATOR: "makes the space, and may do everything in it",
    PEERS: "for programs that know only agent.inbox.<uuid>",
}


def _user(space: SpaceName, user: NatsUser, *, bridge: bool) -> str:
    rights = rights_of(space, user, bridge=bridge)
    about = f": {_ABOUT[user.name]}" if user.name in _ABOUT else ""
    return "\n".join(
        (
            f"    # {user.name}{about}",
            "    {",
            f'      nkey: "{user.public}"',
            "      permissions {",
            *_allow("publish", rights.publish),
            *_allow("subscribe", rights.subscribe),
            "      }",
            "    }",
        )
    )


def _allow(what: str, subjects: Iterable[str]) -> Iterable[str]:
    return (f"        {what} {{ allow = [", *(f'          "{subject}"' for subject in subjects), "        ] }")
