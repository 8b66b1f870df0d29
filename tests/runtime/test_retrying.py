"""Retries: a call with a temporary failure is repeated and reported, a permanent failure is raised."""

import asyncio

import pytest

from covey.core.backoff import Backoff
from covey.core.errors import StoreBusy, StoreCorrupt
from covey.runtime.retry import retried

AT_ONCE = Backoff(0.0, 0.0)
LIMIT_S = 10.0


async def test_a_call_is_repeated_until_it_succeeds_and_each_failure_is_reported() -> None:
    told: list[str] = []
    busy = StoreBusy("covey.db", 5)

    async def call() -> int:
        if len(told) < 3:
            raise busy
        return 42

    async with asyncio.timeout(LIMIT_S):
        assert await retried(call, told.append, AT_ONCE) == 42
    assert told == [busy.message] * 3


async def test_a_permanent_error_is_raised_at_once() -> None:
    told: list[str] = []

    async def call() -> int:
        raise StoreCorrupt("covey.db", "it is no database")

    with pytest.raises(StoreCorrupt):
        await retried(call, told.append, AT_ONCE)
    assert not told
