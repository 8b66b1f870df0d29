"""Spaces created ahead: a stream of three nodes needs a while to elect its leader, and tests need many."""

import uuid
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager

from nats.aio.client import Client
from nats.js.errors import APIError

from covey.adapters.nats.client.link import Link
from covey.adapters.nats.client.requests import NO_SUCH_STREAM, ask
from covey.adapters.nats.client.settings import nats_settings
from covey.adapters.nats.log.streams import log_config, space_configs
from covey.core.formats.nats_names import SpaceName, log_stream

AHEAD = 4
LIMIT_S = 30.0


def new_space() -> SpaceName:
    """Return the name of a space that does not exist yet."""
    return SpaceName(uuid.uuid4().hex)


class SpacesAhead:
    """Some spaces with an empty log."""

    def __init__(self, link: Link, replicas: int) -> None:
        self._link = link
        self._replicas = replicas
        self._made: deque[Future[SpaceName]] = deque(self._begin() for _ in range(AHEAD))

    def take(self) -> SpaceName:
        """Return an unused space."""
        self._made.append(self._begin())
        return self._made.popleft().result(LIMIT_S)

    def drop(self, space: SpaceName) -> None:
        """Delete a space: a stream costs its servers resources even when it is unused."""
        self._link.owe(lambda client: _delete(client, space))

    def _begin(self) -> Future[SpaceName]:
        space = new_space()
        made: Future[SpaceName] = Future()

        async def make(client: Client) -> None:
            try:
                config = {"storage": "file", **log_config(space), "num_replicas": self._replicas}
                await ask(client, f"STREAM.CREATE.{log_stream(space)}", config, LIMIT_S)
                made.set_result(space)
            except BaseException as error:
                made.set_exception(error)
                raise

        self._link.owe(make)
        return made


async def _delete(client: Client, space: SpaceName) -> None:
    for config in space_configs(space):
        try:
            await ask(client, f"STREAM.DELETE.{config['name']}", None, LIMIT_S)
        except APIError as error:
            if error.err_code != NO_SUCH_STREAM:
                raise


@contextmanager
def spaces_ahead(url: str, replicas: int = 1) -> Generator[SpacesAhead]:
    """Provide spaces on the servers of a URL, each with `replicas` replicas."""
    link = Link(nats_settings(f"{url.removeprefix('nats://')}/ahead", {}, {})).share()
    try:
        yield SpacesAhead(link, replicas)
    finally:
        link.release()
