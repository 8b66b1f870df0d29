"""`covey doctor --salvage`: the readable rows of a damaged store are copied into a new one."""

from pathlib import Path

import pytest

from tests.surfaces.doctor.patient import Patient

PAGE = 4096


def pages_of(patient: Patient, table: str) -> list[int]:
    """Return the numbers of the pages that contain rows of a table."""
    found = patient.sql("select pageno from dbstat where name = ? and pagetype in ('leaf', 'overflow')", table)
    return [number for (number,) in found]


def harm(patient: Patient, pages: list[int]) -> None:
    content = bytearray(patient.store.read_bytes())
    for number in pages:
        content[(number - 1) * PAGE : number * PAGE] = b"\xa5" * PAGE
    patient.store.write_bytes(content)


def test_every_row_outside_the_damaged_pages_is_saved(patient: Patient) -> None:
    sent = [patient.send(f"number {n} " + "x" * 1500) for n in range(30)]
    harm(patient, pages_of(patient, "messages")[3:6])
    assert patient.codes() == ["store-damaged"]
    assert patient.covey("inbox", "coder").code == 4
    said = patient.covey("doctor", "--salvage", ".covey/saved.db", "--json")
    assert said.code == 0
    messages = said.json["tables"]["messages"]
    lost = messages["unreadable"]
    assert 0 < lost < 10
    assert messages["saved"] == 31 - lost
    assert said.json["tables"]["deliveries"] == {"saved": 31 - lost, "unreadable": lost}
    assert said.json["tables"]["agents"] == {"saved": 2, "unreadable": 0}
    store = ("--store", f"sqlite:{patient.folder}/.covey/saved.db")
    waiting = patient.covey("inbox", "coder", "--json", *store).json
    assert len(waiting) == 31 - lost
    assert {item["id"] for item in waiting} > {sent[0], sent[-1]}
    assert patient.codes(*store) == ["journal-disagrees"]
    assert patient.covey("export", "saved.jsonl", *store).code == 0
    assert patient.covey("send", "on we go", "--from", "critic", "--to", "coder", *store).code == 0


def test_damage_to_an_index_or_the_journal_loses_no_mail(patient: Patient) -> None:
    for n in range(200):
        patient.send(f"number {n}")
    harm(patient, pages_of(patient, "journal")[2:4] + pages_of(patient, "deliveries_waiting")[:1])
    assert patient.codes() == ["store-damaged"]
    said = patient.covey("doctor", "--salvage", ".covey/saved.db")
    assert said.code == 0
    assert said.out.endswith("Next: covey doctor --store sqlite:.covey/saved.db\n")
    store = ("--store", f"sqlite:{patient.folder}/.covey/saved.db")
    assert len(patient.covey("inbox", "coder", "--json", "--limit", "500", *store).json) == 201
    assert patient.codes(*store) == ["journal-disagrees"]


def test_tasks_posts_and_bindings_are_saved_and_tasks_without_a_message_are_not(patient: Patient) -> None:
    assert patient.covey("channels", "add", "ops", "--console").code == 0
    assert patient.covey("channels", "bind", "ops", "c-1", "--to", "coder").code == 0
    patient.send("hello", to="ops")
    words = ("--from", "critic", "--to", "coder", "--no-wait", "--json")
    tasks = [patient.covey("delegate", "x" * 1500, *words).json["id"] for _ in range(20)]
    harm(patient, pages_of(patient, "messages")[2:4])
    said = patient.covey("doctor", "--salvage", "saved.db", "--json")
    assert said.code == 0
    tables = said.json["tables"]
    lost = tables["messages"]["unreadable"]
    assert 0 < lost < 10
    assert tables["tasks"] == {"saved": 20 - lost, "unreadable": lost}
    assert tables["bindings"] == {"saved": 1, "unreadable": 0}
    assert tables["posts"]["saved"] == 1
    store = ("--store", f"sqlite:{patient.folder}/saved.db")
    assert patient.codes(*store) == ["journal-disagrees"]
    assert patient.covey("accept", tasks[-1], "--as", "coder", *store).code == 0


def test_runs_trees_and_waits_are_saved(patient: Patient) -> None:
    patient.sql(
        "insert into runs (id, session, key, agent, parent_agent, request, mode, launcher, state, started_at,"
        " description, stage, is_told) values ('r-1', 's-1', 'agent:coder:main', 'coder', 'critic', 'm-1', 'run',"
        " 'command', 'running', '2026-01-01T00:00:00.000000+00:00', '', 'session', 1)"
    )
    patient.sql("insert into waits (asker, what, session, since, until) values ('critic', 'a@coder', null, 'x', 'y')")
    root = patient.ask()
    assert patient.covey("reply", root, "because", "--from", "coder").code == 0
    tables = patient.covey("doctor", "--salvage", "saved.db", "--json").json["tables"]
    assert [tables[name]["saved"] for name in ("runs", "waits", "trees")] == [1, 1, 1]
    assert patient.sql("select id, seq from runs", file=patient.folder / "saved.db") == [("r-1", 1)]


def test_tasks_of_a_store_without_task_records_are_not_lost(patient: Patient) -> None:
    words = ("--from", "critic", "--to", "coder", "--no-wait", "--json")
    task = patient.covey("delegate", "do it", *words).json["id"]
    patient.sql("drop table tasks")
    patient.sql("drop table posts")
    patient.sql("drop table bindings")
    patient.sql("delete from migrations where name >= '0007'")
    assert patient.covey("doctor", "--salvage", "saved.db").code == 0
    store = ("--store", f"sqlite:{patient.folder}/saved.db")
    assert set(patient.codes(*store)) == {"task-unrecorded", "journal-disagrees"}
    assert patient.mend(*store).code == 0
    assert patient.codes(*store) == []
    assert patient.covey("accept", task, "--as", "coder", *store).code == 0


def test_an_intact_store_is_copied_completely(patient: Patient) -> None:
    assert patient.covey("doctor", "--salvage", "copy.db").code == 0
    store = ("--store", f"sqlite:{patient.folder}/copy.db")
    assert patient.codes(*store) == []
    assert patient.covey("log", "--json", *store).out == patient.covey("log", "--json").out


def test_if_nothing_is_readable_nothing_is_created(patient: Patient) -> None:
    content = bytearray(patient.store.read_bytes())
    content[PAGE:] = b"\xa5" * (len(content) - PAGE)
    patient.store.write_bytes(content)
    said = patient.covey("doctor", "--salvage", "saved.db", "--json")
    assert (said.code, said.json["error"]["code"]) == (4, "store-corrupt")
    assert [path.name for path in patient.folder.iterdir()] == [".covey"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--salvage"], 2, "expected one argument"),
        (["--salvage", ".covey/covey.db"], 2, "there is one already"),
        (["--salvage", "new.db", "--store", "memory:"], 2, "only a store in a file"),
        (["--salvage", "new.db", "--store", "sqlite:nowhere.db"], 4, "nowhere.db can't be used"),
    ],
)
def test_a_wrong_call_saves_nothing(patient: Patient, words: list[str], code: int, says: str) -> None:
    said = patient.covey("doctor", *words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    assert not Path("new.db").exists()
