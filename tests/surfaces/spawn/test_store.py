"""The store URL that a child gets."""

from pathlib import Path

import pytest

import covey
from covey import Card


async def test_a_child_in_another_folder_gets_an_absolute_store_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with covey.open("sqlite:space/covey.db") as space:
        lead = await space.join("lead")
        await space.join("coder", card=Card(command=("sh", "-c", "echo $COVEY_STORE", "{prompt}")))
        child = await lead.spawn("Say where it is.", agent="coder")
        result = await child.result(timeout=20)
    assert result is not None
    assert result.text == f"sqlite:{tmp_path}/space/covey.db"
