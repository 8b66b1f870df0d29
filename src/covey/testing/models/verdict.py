"""Validation of a request without a server."""

from collections.abc import Sequence

from covey.core.json import JsonObject
from covey.testing.models.desk import dialects
from covey.testing.models.refusal import Refusal
from covey.testing.models.request import Api


def refusal_of(api: Api, body: JsonObject, betas: Sequence[str] = ()) -> Refusal | None:
    """Return the provider's refusal of a request, or None if the request is valid. There are no earlier requests."""
    (dialect,) = (dialect for dialect in dialects() if dialect.api is api)
    headers = {"anthropic-version": "2023-06-01", "anthropic-beta": ",".join(betas)}
    try:
        dialect.check(body, headers)
    except Refusal as refusal:
        return refusal
    return None
