"""Lives on NATS that are cancelled at each suspension."""

from pathlib import Path

import pytest

from tests.lives.cancelling import When
from tests.lives.scenes import SCENES
from tests.lives.test_cancelled import cancelled_lives
from tests.nats.conftest import place, server

__all__ = ["place", "server"]


@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("name", ["read_and_write", "take_a_turn", "work"])
async def test_a_life_on_nats_that_is_cancelled_anywhere_leaves_nothing_and_loses_nothing(
    name: str, when: When, place: str, tmp_path: Path
) -> None:
    url = f"nats://{place}?cache={tmp_path}"
    assert await cancelled_lives(url, tmp_path / "covey.db", SCENES[name], when) > 0
