"""The store as a file: missing, foreign, damaged, too old, too new, read-only, miscounted."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from covey.adapters.sqlite.engine.access import MIGRATIONS_FOLDER, migration_names
from covey.adapters.sqlite.engine.connection import bring_up_to_date
from covey.surfaces.cli.exits import UNAVAILABLE
from tests.surfaces.commands import LIMIT_S, Said
from tests.surfaces.doctor.patient import Patient

READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
PAGE = 4096


def fill(patient: Patient) -> None:
    """Send messages that fill several pages of the store."""
    for n in range(40):
        patient.send(f"message {n} " + "x" * 2000)


def damage(path: Path, *, first: int = PAGE, seed: int = 7) -> None:
    """Overwrite some bytes of each page from `first` on."""
    content = bytearray(path.read_bytes())
    dice = random.Random(seed)
    for page in range(first, len(content), PAGE):
        for _ in range(200):
            content[page + dice.randrange(PAGE)] = dice.randrange(256)
    path.write_bytes(content)


def test_a_missing_store_is_not_created(bare: Patient) -> None:
    finding = bare.finding("store-missing")
    assert "covey init" in finding["advice"]
    assert finding["remedy"] is None
    assert bare.mend().code == UNAVAILABLE
    assert not list(bare.folder.iterdir())
    assert not (Path(os.environ["HOME"]) / ".covey").exists()


def test_areas_that_were_not_examined_are_listed_on_one_line(bare: Patient) -> None:
    out = bare.covey("doctor").out
    assert (
        "search, blobs, sessions, offers, inboxes, tickets, tasks, runs, storms, channels, journal: not examined" in out
    )


def test_a_file_that_is_no_database_is_left_alone(patient: Patient) -> None:
    patient.store.write_text("These are my notes, please keep them. " * 200)
    before = patient.store.read_bytes()
    assert patient.finding("store-foreign")["severity"] == "error"
    assert patient.mend().code == 1
    assert patient.store.read_bytes() == before


def test_a_database_of_another_program_is_left_alone(bare: Patient) -> None:
    path = bare.folder / "birds.db"
    bare.sql("create table birds (name text)", file=path)
    path.chmod(0o600)
    assert bare.codes("--store", f"sqlite:{path}") == ["store-foreign"]
    assert bare.mend("--store", f"sqlite:{path}").code == 1
    assert bare.sql("select count(*) from birds", file=path) == [(0,)]


def test_a_folder_at_the_path_is_no_store(bare: Patient) -> None:
    (bare.folder / "covey.db").mkdir(mode=0o700)
    assert bare.codes("--store", f"sqlite:{bare.folder}/covey.db") == ["store-foreign"]


@pytest.mark.requirement("dialogue.doctor")
def test_a_damaged_store_is_found_and_the_advice_names_the_commands(patient: Patient) -> None:
    fill(patient)
    damage(patient.store)
    before = patient.store.read_bytes()
    finding = patient.finding("store-damaged")
    assert "covey restore" in finding["advice"]
    assert "covey export" in finding["advice"]
    assert patient.codes("--quick") == ["store-damaged"]
    assert patient.mend().code == 1
    assert patient.store.read_bytes() == before


def test_a_damaged_first_page_is_found(patient: Patient) -> None:
    damage(patient.store, first=0)
    assert set(patient.codes()) <= {"store-damaged", "store-foreign"}


def test_a_truncated_store_is_found(patient: Patient) -> None:
    fill(patient)
    os.truncate(patient.store, patient.store.stat().st_size // 2 // PAGE * PAGE)
    assert patient.codes() == ["store-damaged"]


def test_a_newer_store_is_left_alone(patient: Patient) -> None:
    patient.sql("insert into migrations values ('9999_wonders', '2030-01-01T00:00:00.000000+00:00')")
    finding = patient.finding("store-newer")
    assert "9999_wonders" in finding["what"]
    assert "Upgrade" in finding["advice"]
    assert patient.mend().code == 1
    patient.sql("delete from migrations where name = '9999_wonders'")
    assert patient.codes() == []


def test_an_older_store_is_migrated(bare: Patient, tmp_path: Path) -> None:
    first, *_ = migration_names()
    known = tmp_path / "known then"
    known.mkdir()
    shutil.copy(Path(MIGRATIONS_FOLDER) / f"{first}.sql", known)
    bare.store.parent.mkdir(mode=0o700)
    bare.store.touch(mode=0o600)
    connection = apsw.Connection(str(bare.store))
    bring_up_to_date(connection, str(bare.store), str(known))
    connection.close()
    (bare.folder / ".covey" / "covey.db-turn").chmod(0o600)
    assert bare.finding("store-outdated")["remedy"]
    assert bare.codes() == ["store-outdated"]
    assert bare.sql("select name from migrations") == [(first,)]
    assert bare.mend().code == 0
    assert bare.sql("select name from migrations") == [(name,) for name in migration_names()]
    assert bare.codes() == []


def test_an_empty_file_is_reported_as_empty_and_left_alone(bare: Patient) -> None:
    bare.store.parent.mkdir(mode=0o700)
    bare.store.touch(mode=0o600)
    finding = bare.finding("store-empty")
    assert "0 bytes" in finding["what"]
    assert "covey init" in finding["advice"]
    assert bare.mend().code == 1
    assert bare.store.stat().st_size == 0


def test_a_changed_record_is_reported_by_its_checksum(patient: Patient) -> None:
    message_id = patient.send("the true words")
    content = patient.store.read_bytes()
    assert content.count(b"the true words") >= 1
    patient.store.write_bytes(content.replace(b"the true words", b"the lies words"))
    finding = patient.finding("records-damaged")
    assert message_id in finding["items"][0]
    assert "checksum" in finding["items"][0]
    assert not finding["remedy"]


def test_a_damaged_index_is_rebuilt(patient: Patient) -> None:
    # An index whose condition differs from the one in the schema.
    patient.sql("drop index tickets_owed_by")
    patient.sql("create index tickets_owed_by on tickets (debtor, opened_at) where state = 'closed'")
    patient.sql(
        "pragma writable_schema = on; update sqlite_schema set sql = replace(sql, 'state =', 'state <>')"
        " where name = 'tickets_owed_by'"
    )
    finding = patient.finding("store-index-damaged")
    assert any("tickets_owed_by" in item for item in finding["items"])
    assert "store-index-damaged" not in patient.codes("--quick")
    assert patient.mend().code == 0
    assert patient.codes() == []
    assert len(patient.covey("owed", "coder", "--json").json) == 1


def test_wrong_counts_are_corrected(patient: Patient) -> None:
    patient.sql("update inboxes set queued = 700")
    assert patient.finding("store-miscounted")["items"] == ["agent:coder"]
    assert patient.mend().code == 0
    assert patient.codes() == []
    assert patient.sql("select queued from inboxes") == [(1,)]


def test_the_file_of_a_killed_restore_is_removed(patient: Patient) -> None:
    left = Path(f"{patient.store}-restoring")
    left.touch(mode=0o600)
    assert patient.codes() == []  # the restore may still be running
    an_age_ago = time.time() - 10_000
    os.utime(left, (an_age_ago, an_age_ago))
    assert patient.finding("unfinished-restore")["items"] == [str(left)]
    assert patient.mend().code == 0
    assert not left.exists()
    assert patient.codes() == []


def in_read_only_folder(patient: Patient, *words: str) -> Said:
    """Run the doctor with a read-only mount of the space's folder, which holds for root too."""
    doctor = [sys.executable, "-m", "covey", "doctor", *words]
    command = ["unshare", "-rm", "sh", "-c", READ_ONLY, "sh", str(patient.store.parent), *doctor]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"a private mount can't be made: {done.stderr}")
    return Said(done.returncode, done.stdout, done.stderr)


def test_a_read_only_folder_is_examined_as_far_as_possible(patient: Patient) -> None:
    said = in_read_only_folder(patient, "--json")
    assert said.code == 1
    assert [finding["code"] for finding in said.json["findings"]] == ["store-read-only"]
    assert patient.codes() == []


def test_a_failed_repair_is_reported(patient: Patient) -> None:
    patient.store.chmod(0o644)
    said = in_read_only_folder(patient, "--fix", "--yes")
    assert said.code == 1
    assert "could not mend wrong-permissions: " in said.out
    (failed,) = in_read_only_folder(patient, "--fix", "--yes", "--json").json["failed"]
    assert (failed["code"], failed["error"]["code"]) == ("wrong-permissions", "store-read-only")
    assert patient.mend().code == 0


def test_an_unreadable_record_is_reported(patient: Patient) -> None:
    patient.sql("update journal set details = 'scribbled over' where position = 1")
    finding = patient.finding("record-unreadable")
    assert "journal" in finding["what"]
    patient.sql("update agents set card = '[]' where name = 'coder'")
    assert patient.covey("doctor").code == 1
