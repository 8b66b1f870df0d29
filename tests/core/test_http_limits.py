"""Limits of surfaces that listen for HTTP."""

import json

import pytest

from covey.core import http as http_limits
from covey.core.errors import Invalid
from covey.core.http import HttpLimits, HttpRefusal, check_limits

REFUSALS = [value for value in vars(http_limits).values() if isinstance(value, HttpRefusal)]


@pytest.mark.parametrize("name", HttpLimits._fields)
def test_every_limit_must_be_positive(name: str) -> None:
    assert check_limits(HttpLimits()) == HttpLimits()
    for odd in (0, -1, float("nan")):
        with pytest.raises(Invalid):
            check_limits(HttpLimits()._replace(**{name: odd}))


@pytest.mark.parametrize("refusal", REFUSALS, ids=[refusal.code for refusal in REFUSALS])
def test_a_refusal_is_an_answer_that_ends_its_connection(refusal: HttpRefusal) -> None:
    head, _, body = refusal.response().partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {refusal.status.value} ".encode())
    assert b"Connection: close" in head
    assert f"Content-Length: {len(body)}".encode() in head
    assert json.loads(body) == {"error": {"code": refusal.code, "message": refusal.message}}


def test_no_two_refusals_have_the_same_code() -> None:
    assert len({refusal.code for refusal in REFUSALS}) == len(REFUSALS) == 4
