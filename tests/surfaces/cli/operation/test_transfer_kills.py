"""Killed exports, imports and moves: the short form of the long run in tests/chaos."""

import pytest

from tests.chaos.interrupted_transfer import killed_again_and_again, moved_again_and_again


def test_a_rerun_completes_a_killed_export_or_import() -> None:
    killed_again_and_again(messages=90, kills=10)


@pytest.mark.parametrize("layout", [None, "dialogue", "mailbox"])
def test_a_rerun_completes_a_killed_move(layout: str | None) -> None:
    moved_again_and_again(messages=40, kills=4, layout=layout)
