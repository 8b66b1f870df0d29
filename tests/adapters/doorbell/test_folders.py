import os
from pathlib import Path

import pytest

from covey.adapters.doorbell.runtime_folder import (
    MAX_SOCKET_PATH,
    RuntimeFolderUnusable,
    make_private,
    runtime_folder,
    space_folder,
    topic_name,
)
from covey.adapters.doorbell.wakeups import DoorbellWakeups
from covey.core.names import Topic
from tests.adapters.children import child


def test_the_runtime_folder_can_be_chosen() -> None:
    assert runtime_folder({"COVEY_RUNTIME_DIR": "/somewhere"}) == "/somewhere"


def test_no_other_variable_affects_the_runtime_folder() -> None:
    variables = {"XDG_RUNTIME_DIR": "/a", "TMPDIR": "/b", "HOME": "/c", "COVEY_RUNTIME_DIR": ""}
    assert runtime_folder(variables) == runtime_folder({})
    user = os.geteuid()
    assert runtime_folder({}) in (f"/run/user/{user}/covey", f"/tmp/covey-{user}")


def test_a_space_is_identified_by_the_resolved_path_of_its_store(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    real = space_folder("/r", str(tmp_path / "real" / "covey.db"))
    assert space_folder("/r", str(tmp_path / "link" / "covey.db")) == real
    assert space_folder("/r", str(tmp_path / "covey.db")) != real
    assert len(real) == len("/r/") + 12


def test_any_text_can_be_a_topic() -> None:
    names = {topic_name(text) for text in ("", "a", "../..", "\0", "é" * 10_000, "\ud800", "journal")}
    assert len(names) == 7
    assert all(len(name) == 16 and int(name, 16) >= 0 for name in names)


def test_all_processes_give_a_topic_the_same_name() -> None:
    with child("from covey.adapters.doorbell.runtime_folder import topic_name; print(topic_name('journal'))") as other:
        assert other.line() == topic_name("journal")


def test_a_missing_folder_is_made_private(short: Path) -> None:
    folder = short / "a" / "b"
    make_private(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    make_private(str(folder))


def test_a_symbolic_link_is_refused(short: Path) -> None:
    (short / "real").mkdir(mode=0o700)
    (short / "link").symlink_to("real")
    (short / "dangling").symlink_to("nowhere")
    for name in ("link", "dangling"):
        with pytest.raises(RuntimeFolderUnusable):
            make_private(str(short / name))


def test_a_file_is_refused(short: Path) -> None:
    (short / "file").touch()
    with pytest.raises(RuntimeFolderUnusable):
        make_private(str(short / "file"))


def test_a_folder_that_others_may_use_is_refused(short: Path) -> None:
    for mode in (0o750, 0o701, 0o1777):
        short.chmod(mode)
        with pytest.raises(RuntimeFolderUnusable, match="others have rights"):
            make_private(str(short))
    short.chmod(0o700)


def test_a_folder_of_another_user_is_refused(short: Path) -> None:
    folder = short
    if os.geteuid() == 0:
        os.chown(short, 12345, 12345)
    else:
        folder = Path("/usr")
    with pytest.raises(RuntimeFolderUnusable, match="another user"):
        make_private(str(folder))


def test_a_relative_path_is_refused() -> None:
    with pytest.raises(RuntimeFolderUnusable, match="absolute"):
        make_private("here")


def test_a_path_that_is_too_long_for_sockets_is_refused(short: Path) -> None:
    long = str(short) + "/" + "x" * (MAX_SOCKET_PATH - len(str(short)) - 39)
    with pytest.raises(RuntimeFolderUnusable, match="over 64 bytes"):
        make_private(long)
    assert not Path(long).exists()


@pytest.mark.parametrize("flaw", ["mode", "link", "long"])
async def test_listening_reports_the_fault_and_ringing_stays_silent(short: Path, flaw: str) -> None:
    runtime = short / "r"
    if flaw == "mode":
        runtime.mkdir(mode=0o755)
        runtime.chmod(0o755)
    elif flaw == "link":
        (short / "real").mkdir(mode=0o700)
        runtime.symlink_to("real")
    else:
        runtime = short / ("r" * 80)
    wakeups = DoorbellWakeups(str(short / "covey.db"), str(runtime))
    wakeups.ring([Topic("a")])
    with pytest.raises(RuntimeFolderUnusable) as caught:
        async with wakeups.listen([Topic("a")]):
            pytest.fail("it listens")
    assert caught.value.code == "runtime-folder-unusable"
    wakeups.ring([Topic("a")])
    await wakeups.close()
