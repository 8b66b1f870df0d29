"""The short form of the long run in tests/chaos: Covey's writers are killed while foreign programs read and write."""

import pytest

from covey.core.formats.layout import Layout
from tests.chaos.files_rampage import rampage

pytestmark = pytest.mark.timeout(180)

KILLS = 13
"""Kills for each layout."""


@pytest.mark.requirement("mailbox.atomic")
def test_writers_of_mailboxes_that_are_killed_lose_nothing_and_leave_no_half_message() -> None:
    rampage(KILLS, Layout.MAILBOX)


@pytest.mark.requirement("dialogue.manifest", "dialogue.layout")
def test_writers_of_a_dialogue_that_are_killed_lose_nothing_and_spoil_no_line() -> None:
    rampage(KILLS, Layout.DIALOGUE)
