"""A folder full of messages, junk and traps: it opens, everything else in it works, and the doctor reports the junk."""

from pathlib import Path

import pytest

from covey.core.formats.layout import Layout
from tests.foreign.running import LOOP, MAILBOX, asked
from tests.scenarios.living_with_junk import live_through

ARCHIVED = 300
"""Number of archived messages. The long run in tests/chaos has twenty thousand."""


@pytest.mark.requirement("dialogue.layout")
async def test_a_folder_of_loops_that_is_full_of_junk_opens_and_works(tmp_path: Path) -> None:
    await live_through(tmp_path / "shared", Layout.DIALOGUE, ARCHIVED)
    assert len(asked(LOOP, tmp_path / "shared", "inbox", "--agent", "研究员")) == 2


@pytest.mark.requirement("mailbox.layout")
async def test_a_folder_of_mailboxes_that_is_full_of_junk_opens_and_works(tmp_path: Path) -> None:
    await live_through(tmp_path / "shared", Layout.MAILBOX, ARCHIVED)
    assert len(asked(MAILBOX, tmp_path / "shared", "poll", "研究员")) == 2
