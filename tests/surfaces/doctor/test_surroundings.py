"""The surroundings of the store: permissions, wake-up sockets, the search index and the contents of files."""

import json
import os
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from covey.adapters.doorbell.runtime_folder import space_folder
from covey.adapters.sqlite.care.checkup import FAR_BEHIND
from tests.adapters.children import Child, child
from tests.surfaces.doctor.patient import Patient

LISTEN = """
import asyncio, sys
from covey.core.names import inbox_topic
from covey.core.names import AgentName
from covey.services.directory.directory import JoinRequest
from covey.services.space import Services
from covey.engines import connect, locate

async def main():
    ports = connect(locate("sqlite:" + sys.argv[1]), [])
    joined = await Services(ports).directory.join(JoinRequest(AgentName("coder")))
    async with ports.wakeups.listen([inbox_topic(joined.session.inbox)]):
        print("listening", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""

SEND_MANY = """
import asyncio, sys, covey

async def main():
    async with covey.open("sqlite:" + sys.argv[1] + "?synchronous=normal") as space:
        me = await space.join("lead")
        await space.join("coder", inbox_limit=1_000_000)
        for _ in range(int(sys.argv[2]) // 500):
            await asyncio.gather(*(me.send("coder", "the quick fox") for _ in range(500)))
    print("done", flush=True)

asyncio.run(main())
"""


@contextmanager
def listener(patient: Patient) -> Generator[Child]:
    """A process that waits for mail until it is killed."""
    with child(LISTEN, str(patient.store)) as process:
        assert process.line() == "listening"
        yield process


def doors(patient: Patient) -> Path:
    return Path(space_folder(str(patient.runtime), str(patient.store))) / "p"


def test_wrong_permissions_are_corrected(patient: Patient) -> None:
    (patient.folder / "notes.txt").write_text("as it was")
    patient.send("see", "--file", "notes.txt")
    assert patient.codes() == []
    patient.store.chmod(0o640)
    patient.store.parent.chmod(0o755)
    (patient.store.parent / "covey.db-turn").chmod(0o400)
    (blobs,) = (patient.store.parent / "blobs").glob("??")
    blobs.chmod(0o750)
    items = patient.finding("wrong-permissions")["items"]
    for path, rights in ((patient.store, "0640"), (patient.store.parent, "0755"), (blobs, "0750")):
        assert any(item.startswith(f"{path} ({rights} instead of") for item in items)
    assert patient.mend().code == 0
    assert patient.codes() == []
    found = [path for path in patient.store.parent.rglob("*") if path.stat().st_mode & 0o077]
    assert found == []


def test_a_folder_that_is_not_covey_s_keeps_its_permissions(bare: Patient) -> None:
    url = f"sqlite:{bare.folder}/covey.db"
    bare.folder.chmod(0o755)
    (bare.folder / "notes.txt").write_text("mine")
    (bare.folder / "notes.txt").chmod(0o644)
    assert bare.covey("init", "--store", url).code == 0
    assert bare.codes("--store", url) == []
    (bare.folder / "covey.db").chmod(0o644)
    assert bare.mend("--store", url).code == 0
    assert bare.folder.stat().st_mode & 0o777 == 0o755
    assert (bare.folder / "notes.txt").stat().st_mode & 0o777 == 0o644
    assert (bare.folder / "covey.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the owner of a file")
def test_a_file_of_another_user_is_reported_and_can_not_be_mended(patient: Patient) -> None:
    os.chown(patient.store.parent / "covey.db-turn", 12345, 12345)
    finding = patient.finding("wrong-permissions")
    assert "of another user" in finding["items"][0]
    assert finding["remedy"] is None
    assert finding["hindrance"] == "they belong to another user"
    assert "--fix can do nothing here: they belong to another user." in patient.covey("doctor").out
    assert patient.mend().code == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without access")
def test_a_user_without_permissions_on_their_own_folder_gets_them_back(patient: Patient, tmp_path: Path) -> None:
    """The check runs in a fork, because the other user could not import the program."""
    for path in (tmp_path, *tmp_path.rglob("*"), patient.runtime):
        os.chown(path, 12345, 12345)
    for above in tmp_path.parents:
        if not above.stat().st_mode & 0o001:
            above.chmod(0o755)
    patient.store.parent.chmod(0o000)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(12345)
            os.setuid(12345)
            found = [patient.codes("--store", f"sqlite:{patient.store}")]
            patient.mend("--store", f"sqlite:{patient.store}")
            found.append(patient.codes("--store", f"sqlite:{patient.store}"))
            os.write(writing, json.dumps(found).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        assert json.load(answer) == [["store-unreadable", "wrong-permissions"], []]
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.requirement("dialogue.doctor")
def test_the_remains_of_a_killed_process_are_found_and_removed(patient: Patient) -> None:
    with listener(patient) as process:
        assert patient.codes() == []
        process.kill()
        assert sorted(patient.codes()) == ["expired-lease", "stale-doorbell"]
    finding = patient.finding("stale-doorbell")
    assert str(doors(patient)) in finding["items"][0]
    assert patient.mend().code == 0
    assert not list(doors(patient).iterdir())
    assert patient.codes() == []
    (waiting,) = patient.covey("inbox", "coder", "--json").json
    assert waiting["parked"] is True


def test_an_abandoned_socket_and_a_dangling_link_are_removed(patient: Patient) -> None:
    with listener(patient):
        (live,) = doors(patient).iterdir()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as left:
            left.bind(str(doors(patient) / "deadbeef"))
        topic = doors(patient).parent / "0123456789abcdef"
        topic.mkdir(mode=0o700)
        (topic / "cafecafe").symlink_to("../p/cafecafe")
        items = patient.finding("stale-doorbell")["items"]
        assert items == [str(doors(patient) / "deadbeef"), str(topic / "cafecafe")]
        assert patient.mend().code == 0
        assert list(doors(patient).iterdir()) == [live]
        assert not topic.exists()
        assert patient.codes() == []


def test_a_runtime_folder_that_other_users_can_enter_is_closed(patient: Patient) -> None:
    patient.runtime.chmod(0o755)
    assert "others have rights on it" in patient.finding("runtime-folder-unusable")["what"]
    assert patient.mend().code == 0
    assert patient.runtime.stat().st_mode & 0o777 == 0o700
    assert patient.codes() == []


@pytest.mark.parametrize("unfit", ["/tmp/" + "long/" * 20, "relative"])
def test_a_runtime_folder_that_is_unfit_for_sockets_is_left_to_people(
    patient: Patient, monkeypatch: pytest.MonkeyPatch, unfit: str
) -> None:
    monkeypatch.setenv("COVEY_RUNTIME_DIR", unfit)
    finding = patient.finding("runtime-folder-unusable")
    assert finding["remedy"] is None
    assert "COVEY_RUNTIME_DIR" in finding["advice"]
    assert patient.mend().code == 1
    assert not Path(unfit).exists()


def test_an_index_that_is_slightly_behind_is_no_finding(patient: Patient) -> None:
    assert "up to date but for 1 message" in patient.covey("doctor").out
    assert patient.covey("search", "why").code == 0
    assert "up to date\n" in patient.covey("doctor").out


def test_an_index_that_is_far_behind_catches_up(patient: Patient) -> None:
    with child(SEND_MANY, str(patient.store), str(FAR_BEHIND)) as process:
        assert process.line() == "done"
        assert process.end() == 0
    assert patient.codes("--quick") == ["search-lagging"]
    assert patient.mend("--quick").code == 0
    assert patient.codes("--quick") == []
    assert len(patient.covey("search", "fox", "--json").json) > 0


def test_an_index_with_missing_messages_is_rebuilt(patient: Patient) -> None:
    patient.send("the quick fox")
    assert len(patient.covey("search", "fox", "--json").json) == 1
    patient.sql("delete from words where text match 'fox'", file=Path(f"{patient.store}-search"))
    assert patient.covey("search", "fox", "--json").json == []
    assert "1 message missing from it" in patient.finding("search-damaged")["what"]
    assert patient.mend().code == 0
    assert len(patient.covey("search", "fox", "--json").json) == 1
    assert patient.codes() == []


def test_a_damaged_index_is_rebuilt(patient: Patient) -> None:
    index = Path(f"{patient.store}-search")
    for n in range(50):
        patient.send(f"fox number {n} " + "x" * 500)
    patient.covey("search", "fox")
    content = bytearray(index.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    index.write_bytes(content)
    assert patient.codes("--quick") == ["search-damaged"]
    index.write_text("no index at all " * 1000)
    assert patient.codes() == ["search-damaged"]
    assert patient.mend().code == 0
    assert patient.codes() == []


def test_the_index_of_another_store_is_rebuilt(patient: Patient) -> None:
    index = Path(f"{patient.store}-search")
    other = f"sqlite:{patient.folder}/other.db"
    patient.covey("send", "hi", "--from", "a", "--to", "b", "--register", "--store", other)
    patient.covey("search", "hi", "--store", other)
    index.write_bytes((patient.folder / "other.db-search").read_bytes())
    index.chmod(0o600)
    assert "another store" in patient.finding("search-damaged")["what"]
    assert patient.mend().code == 0
    assert patient.codes() == []


def test_missing_content_of_a_file_is_found(patient: Patient) -> None:
    (patient.folder / "notes.txt").write_text("as it was")
    patient.send("see", "--file", "notes.txt")
    (blob,) = (path for path in (patient.store.parent / "blobs").glob("??/*"))
    content = blob.read_bytes()
    blob.unlink()
    finding = patient.finding("blob-missing")
    assert finding["items"] == [blob.parent.name + blob.name]
    assert finding["remedy"] is None
    assert patient.mend().code == 1
    blob.write_bytes(content)
    blob.chmod(0o600)
    assert patient.codes() == []


def test_unfinished_files_are_removed_only_when_they_are_old(patient: Patient) -> None:
    (patient.folder / "notes.txt").write_text("as it was")
    patient.send("see", "--file", "notes.txt")
    folder = patient.store.parent / "blobs" / "tmp"
    for name in ("old", "young"):
        (folder / name).write_text("half")
        (folder / name).chmod(0o600)
    an_age_ago = time.time() - 10_000
    os.utime(folder / "old", (an_age_ago, an_age_ago))
    assert patient.finding("leftover-files")["items"] == [str(folder / "old")]
    assert patient.mend().code == 0
    assert [path.name for path in folder.iterdir()] == ["young"]
    assert patient.codes() == []
