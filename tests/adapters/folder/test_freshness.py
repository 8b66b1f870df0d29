"""Freshness: a look is made if it may find something, and is fast otherwise."""

import os
import time
from pathlib import Path

import pytest

from covey.adapters.folder.entries import RACY_NS
from covey.ports.folder import FolderChanges
from tests.adapters.folder.desk import LIMIT_S, Desk, content


def names(sighting: FolderChanges) -> list[str]:
    return [arrived.spot.name for arrived in sighting.arrived]


def test_an_unchanged_folder_has_no_news(desk: Desk) -> None:
    assert desk.folder.has_news()
    desk.bring(desk.sheet(1))
    desk.settle()
    assert not desk.folder.has_news()
    other = Desk(desk.root, desk.layout)
    assert not other.folder.has_news()
    other.close()


def test_changes_that_another_process_has_seen_are_no_news(desk: Desk) -> None:
    desk.settle()
    other = Desk(desk.root, desk.layout)
    desk.put(desk.spot(1), content(1))
    assert desk.folder.has_news()
    other.settle()
    other.close()
    assert not desk.folder.has_news()


def test_a_file_is_news_at_once(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    desk.settle()
    desk.put(desk.spot(2), content(2))
    assert desk.folder.has_news()


class Clock:
    """The kernel's clock as a look sees it, set by the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 0
        monkeypatch.setattr(time, "time_ns", lambda: self.now_ns)

    def set_after(self, folder: Path, ns: int) -> None:
        """Set the clock to `ns` nanoseconds after the last change of a folder."""
        self.now_ns = folder.stat().st_mtime_ns + ns


def test_a_folder_is_listed_again_if_a_change_may_have_the_same_time_as_the_last_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = desk.put(desk.spot(1), content(1)).parent
    before = folder.stat().st_mtime_ns
    clock = Clock(monkeypatch)
    clock.set_after(folder, RACY_NS // 2)
    desk.take_in()
    desk.put(desk.spot(2), content(2))
    os.utime(folder, ns=(before, before))  # the kernel's clock has not advanced between the two changes
    clock.set_after(folder, RACY_NS + 1)
    assert desk.folder.has_news()
    assert names(desk.look()) == [desk.spot(2).name]


def test_a_folder_that_we_write_to_is_listed_once_more_and_not_every_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.bring(desk.sheet(1))
    desk.settle()
    desk.bring(desk.sheet(2))
    folder = desk.path(desk.spot(1)).parent
    clock = Clock(monkeypatch)
    clock.set_after(folder, RACY_NS // 2)
    assert not desk.folder.has_news()
    before = folder.stat().st_mtime_ns
    desk.put(desk.spot(3), content(3))
    os.utime(folder, ns=(before, before))  # at the same clock tick as our own write
    clock.set_after(folder, RACY_NS + 1)
    assert desk.folder.has_news()
    assert names(desk.take_in()) == [desk.spot(3).name]
    assert not desk.folder.has_news()


def test_foreign_changes_are_seen_even_while_we_write_continuously(desk: Desk) -> None:
    desk.bring(desk.sheet(1))
    desk.settle()
    folder = desk.path(desk.spot(1)).parent
    desk.bring(desk.sheet(2))
    before = folder.stat().st_mtime_ns
    desk.put(desk.spot(3), content(3))
    os.utime(folder, ns=(before, before))
    ends_at = time.monotonic() + LIMIT_S
    n = 10
    while not (arrived := names(desk.look())):
        desk.bring(desk.sheet(n := n + 1))
        assert time.monotonic() < ends_at
    assert arrived == [desk.spot(3).name]


def test_a_folder_with_an_older_change_is_recognized_by_its_time_alone(desk: Desk) -> None:
    """This makes a look fast. No real kernel sets a time back as this test does."""
    desk.put(desk.spot(1), content(1))
    desk.settle()
    folder = desk.path(desk.spot(1)).parent
    before = folder.stat().st_mtime_ns
    assert time.time_ns() - before > RACY_NS
    desk.put(desk.spot(2), content(2))
    os.utime(folder, ns=(before, before))
    assert desk.look().arrived == []


def test_a_folder_with_a_time_in_the_future_is_listed_every_time(desk: Desk) -> None:
    desk.put(desk.spot(1), content(1))
    folder = desk.path(desk.spot(1)).parent
    desk.take_in()
    future = time.time_ns() + 10**12
    os.utime(folder, ns=(future, future))
    desk.take_in()
    desk.put(desk.spot(2), content(2))
    os.utime(folder, ns=(future, future))
    assert desk.folder.has_news()
    assert names(desk.look()) == [desk.spot(2).name]
