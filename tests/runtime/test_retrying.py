"""Retries: what may pass is tried again and told, what can't pass is raised."""

import asyncio

import pytest

from covey.core.backoff import Backoff
from covey.core.errors import StoreBusy, StoreCorrupt
from covey.runtime.retrying import retried

AT_ONCE = Backoff(0.0, 0.0)
LIMIT_S = 10.0


async def test_a_call_is_made_again_until_it_works_and_each_failure_is_told() -> None:
    told: list[str] = []
    busy = StoreBusy("covey.db", 5)

    async def call() -> int:
        if len(told) < 3:
            raise busy
        return 42

    async with asyncio.timeout(LIMIT_S):
        assert await retried(call, told.append, AT_ONCE) == 42
    assert told == [busy.message] * 3


async def test_an_error_that_cannot_pass_is_raised_at_once() -> None:
    told: list[str] = []

    async def call() -> int:
        raise StoreCorrupt("covey.db", "it is no database")

    with pytest.raises(StoreCorrupt):
        await retried(call, told.append, AT_ONCE)
    assert not told
