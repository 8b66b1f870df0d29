"""Blocking calls over the link, with retries and translated errors."""

from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from nats.aio.client import Client
from nats.errors import Error

from covey.adapters.nats.client.faults import explained
from covey.adapters.nats.client.link import Link
from covey.adapters.nats.client.patience import Exhausted, Patience
from covey.core.errors import NatsUnreachable

T = TypeVar("T")

_SLACK_S: Final = 5.0


def patient_call(
    link: Link,
    attempt: Callable[[Client, float], Coroutine[Any, Any, T]],
    limit_s: float,
    last_s: float = 0.0,
) -> T:
    """Return the result of `attempt`, which gets the timeout of each of its requests.

    The whole attempt is retried for up to `limit_s`. An attempt that takes longer by itself has `last_s` more.
    """

    async def insist(client: Client) -> T:
        try:
            return await Patience(client, limit_s, _nothing).insist(lambda left_s: attempt(client, left_s))
        except Exhausted as error:
            if error.cause is not None:
                raise explained(error.cause, link.settings) from error.cause
            raise NatsUnreachable(link.settings.shown, f"no connection for {limit_s:g} s") from None
        except (Error, OSError, TimeoutError) as error:
            raise explained(error, link.settings) from error

    return link.call(insist, limit_s + last_s + _SLACK_S)


def _nothing() -> None:
    return
