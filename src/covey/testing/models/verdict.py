"""The verdict on a request without a server: whether its provider would take it."""

from collections.abc import Sequence

from covey.core.json import JsonObject
from covey.testing.models.desk import dialects
from covey.testing.models.refusal import Refusal
from covey.testing.models.request import Api


def refusal_of(api: Api, body: JsonObject, betas: Sequence[str] = ()) -> Refusal | None:
    """Return why a request is refused, and None where it is valid; nothing came before it."""
    (dialect,) = (dialect for dialect in dialects() if dialect.api is api)
    headers = {"anthropic-version": "2023-06-01", "anthropic-beta": ",".join(betas)}
    try:
        dialect.check(body, headers)
    except Refusal as refusal:
        return refusal
    return None
