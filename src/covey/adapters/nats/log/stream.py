"""The stream of a space's log: configuration, state and reads."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from nats.aio.client import Client
from nats.js.errors import APIError

from covey.adapters.nats.client.api import LOOK_S, NO_SUCH_STREAM, Stored, ask, fetched, from_leader
from covey.core.formats.nats_names import ANYONE, SpaceName, log_stream, log_subjects, told_subjects
from covey.core.json import Json

LARGE: Final = "Covey-Large"
"""The header that names the object of a record that is too large for a message."""

MOST_BYTES: Final = 8 * 1024 * 1024
"""Size limit of a batch, beyond its first record."""


FEW: Final = 32
"""Largest batch from the leader, which returns records one by one."""


class StreamState(NamedTuple):
    created: str
    first: int
    last: int
    replicas: int


def log_config(space: SpaceName) -> Mapping[str, Json]:
    """Return the configuration of the stream."""
    return {
        "name": log_stream(space),
        "description": "The log of a Covey space",
        "subjects": [log_subjects(space)],
        "retention": "limits",
        "compression": "s2",
        "discard": "new",  # a full log refuses new records and keeps the old ones
        "allow_direct": True,
        "deny_delete": True,
        # Followers need no consumer: the server republishes each stored record.
        "republish": {"src": log_subjects(space), "dest": told_subjects(space).replace("*", "{{wildcard(1)}}")},
    }


async def stream_state(client: Client, space: SpaceName, limit_s: float) -> StreamState | None:
    """Return the state of the stream as its leader reports it; None if there is no stream."""
    try:
        said = await ask(client, f"STREAM.INFO.{log_stream(space)}", None, limit_s)
    except APIError as error:
        if error.err_code == NO_SUCH_STREAM:
            return None
        raise
    state = said["state"]
    return StreamState(said["created"], state["first_seq"], state["last_seq"], said["config"]["num_replicas"])


async def records_after(client: Client, space: SpaceName, position: int, count: int, limit_s: float) -> list[Stored]:
    """Return the records after a position, as far as the replica that answers has them: it need not be the leader. If
    no replica answers, return a smaller batch from the leader."""
    wanted: dict[str, Json] = {
        "seq": position + 1,
        "next_by_subj": log_subjects(space),
        "batch": count,
        "max_bytes": MOST_BYTES,
    }
    try:
        return await fetched(client, log_stream(space), wanted, min(limit_s, LOOK_S))
    except TimeoutError:
        return await _from_leader(client, space, position, min(count, FEW), limit_s)


async def _from_leader(client: Client, space: SpaceName, position: int, count: int, limit_s: float) -> list[Stored]:
    found: list[Stored] = []
    while len(found) < count:
        wanted = {"seq": position + 1, "next_by_subj": log_subjects(space)}
        record = await from_leader(client, log_stream(space), wanted, limit_s)
        if record is None:
            break
        found.append(record)
        position = record.seq
    return found


def author_of(subject: str) -> str | None:
    """Return the agent that may append on a subject of the log; None for the subject that is not bound to an agent."""
    principal = subject.rpartition(".")[2]
    return None if principal == ANYONE else principal
