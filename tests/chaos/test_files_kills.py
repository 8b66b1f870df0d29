"""A thousand kills of writers to a shared folder, and a folder with the mail of years."""

import os
from pathlib import Path

import pytest

from covey.core.formats.layout import Layout
from tests.chaos.files_rampage import rampage
from tests.chaos.mailbox_kills import killed_again_and_again
from tests.scenarios.living_with_junk import live_through

KILLS = int(os.environ.get("COVEY_KILLS", "1000"))


@pytest.mark.chaos
@pytest.mark.timeout(900 + 2 * KILLS)
@pytest.mark.parametrize("layout", list(Layout))
def test_no_kill_of_our_writers_damages_a_folder(layout: Layout) -> None:
    rampage(KILLS // 2, layout)


@pytest.mark.chaos
@pytest.mark.timeout(900 + KILLS)
def test_no_kill_damages_mailboxes_without_a_space() -> None:
    killed_again_and_again(KILLS)


@pytest.mark.chaos
@pytest.mark.timeout(900)
@pytest.mark.parametrize("layout", list(Layout))
async def test_a_folder_with_twenty_thousand_archived_messages_and_junk_works(tmp_path: Path, layout: Layout) -> None:
    await live_through(tmp_path / "shared", layout, archived=20_000)
