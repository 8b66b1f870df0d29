"""The stream that is a space's log: what it is like, how it stands, and what it holds."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from nats.aio.client import Client
from nats.js.errors import APIError

from covey.adapters.nats.client.api import LOOK_S, NO_SUCH_STREAM, Stored, ask, fetched, from_leader
from covey.core.formats.nats_names import ANYONE, SpaceName, log_stream, log_subjects, told_subjects
from covey.core.json import Json

LARGE: Final = "Covey-Large"
"""The header that names the content of a record which is too large for a message."""

MOST_BYTES: Final = 8 * 1024 * 1024
"""How much is fetched at once, beyond the first record."""


FEW: Final = 32
"""How many are asked of the leader, which gives them one by one."""


class StreamState(NamedTuple):
    created: str
    first: int
    last: int
    replicas: int


def log_config(space: SpaceName) -> Mapping[str, Json]:
    """Return what the stream is like."""
    return {
        "name": log_stream(space),
        "description": "The log of a Covey space",
        "subjects": [log_subjects(space)],
        "retention": "limits",
        "compression": "s2",
        "discard": "new",  # a log that is full refuses; what it once had it keeps
        "allow_direct": True,
        "deny_delete": True,
        # Whoever follows needs no consumer: the server tells what it has stored.
        "republish": {"src": log_subjects(space), "dest": told_subjects(space).replace("*", "{{wildcard(1)}}")},
    }


async def stream_state(client: Client, space: SpaceName, limit_s: float) -> StreamState | None:
    """Return how the stream stands, by the word of its leader; None where there is none."""
    try:
        said = await ask(client, f"STREAM.INFO.{log_stream(space)}", None, limit_s)
    except APIError as error:
        if error.err_code == NO_SUCH_STREAM:
            return None
        raise
    state = said["state"]
    return StreamState(said["created"], state["first_seq"], state["last_seq"], said["config"]["num_replicas"])


async def records_after(client: Client, space: SpaceName, position: int, count: int, limit_s: float) -> list[Stored]:
    """Return records that follow a position, as far as the server that answers has them: it need not be the leader.
    Where none answers, the leader gives some."""
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
    """Return who adds records on a subject of the log; None where it is for everyone."""
    principal = subject.rpartition(".")[2]
    return None if principal == ANYONE else principal
