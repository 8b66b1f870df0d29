"""A run of the doctor: its output, its questions and its exit codes."""

import getpass
import json
import os
import re
from pathlib import Path

import pytest

from covey.core.care.diagnoses import DIAGNOSES
from covey.core.care.finding import Area
from tests.surfaces.commands import Folder
from tests.surfaces.doctor.patient import Patient
from tests.surfaces.terminal import Terminal, plain

AREAS = [str(area) for area in Area if area not in (Area.FOLDER, Area.SERVER)]


def open_up(patient: Patient) -> None:
    """Give a file of the space the wrong permissions."""
    patient.store.chmod(0o644)


def is_open(patient: Patient) -> bool:
    return patient.store.stat().st_mode & 0o777 == 0o644


def test_a_healthy_space_says_so_in_one_line_for_each_area(patient: Patient) -> None:
    assert patient.covey("reply", "coder:1", "yes", "--from", "coder").code == 0
    said = patient.covey("doctor")
    lines = said.out.splitlines()
    assert (said.code, said.err) == (0, "")
    assert [line.split()[0] for line in lines[: len(AREAS)]] == AREAS
    assert all(line.split()[1] == "healthy" for line in lines[: len(AREAS)])
    assert lines[len(AREAS) :] == ["", "Healthy."]


def test_with_json_the_doctor_writes_a_document(patient: Patient) -> None:
    document = patient.covey("doctor", "--json").json
    assert document["store"] == f"sqlite:{patient.store}"
    assert document["healthy"] is True
    assert [area["area"] for area in document["areas"]] == AREAS
    assert all(area["examined"] and area["summary"] and not area["findings"] for area in document["areas"])
    assert document["findings"] == document["mended"] == document["failed"] == []


def test_a_quick_run_leaves_the_journal_out_and_says_so(patient: Patient) -> None:
    patient.sql("update deliveries set state = 'handled'")
    patient.sql("delete from inboxes")
    said = patient.covey("doctor", "--quick")
    assert said.code == 0
    assert "journal: not compared with the records" in said.out
    assert said.out.endswith("Healthy, as far as was looked.\n")
    assert patient.codes() == ["journal-disagrees"]


def test_without_fix_the_doctor_changes_nothing(patient: Patient) -> None:
    open_up(patient)
    patient.sql("delete from agents")
    before = patient.covey("log", "--json").out
    assert patient.covey("doctor").code == 1
    assert is_open(patient)
    assert patient.covey("log", "--json").out == before


def test_a_finding_is_explained(patient: Patient) -> None:
    open_up(patient)
    said = patient.covey("doctor")
    assert said.code == 1
    assert "warning wrong-permissions: " in said.out
    assert f"{patient.store} (0644 instead of 0600)" in said.out
    for part in ("It means: ", "What to do: ", "--fix sets 0600 on the files"):
        assert part in said.out
    assert said.out.endswith("1 finding. `covey doctor --fix` can mend 1 of them.\n")


def test_without_yes_and_a_terminal_nothing_is_mended(patient: Patient) -> None:
    open_up(patient)
    said = patient.covey("doctor", "--fix")
    assert said.code == 1
    assert "Use --yes" in said.err
    assert is_open(patient)
    as_json = patient.covey("doctor", "--fix", "--json")
    assert (as_json.code, as_json.json["mended"]) == (1, [])
    assert is_open(patient)


def test_mended_findings_are_reported(patient: Patient) -> None:
    open_up(patient)
    document = patient.mend("--json").json
    assert (document["healthy"], document["findings"]) == (True, [])
    assert [finding["code"] for finding in document["mended"]] == ["wrong-permissions"]
    assert not is_open(patient)
    open_up(patient)
    said = patient.mend()
    assert said.code == 0
    assert "mended wrong-permissions" in said.out
    assert said.out.endswith("\nHealthy.\n")


def test_with_nothing_to_mend_no_question_is_asked(patient: Patient) -> None:
    said = patient.covey("doctor", "--fix")
    assert (said.code, said.err) == (0, "")


def test_only_the_named_finding_is_mended(patient: Patient) -> None:
    open_up(patient)
    patient.sql("delete from agents where name = 'coder'")
    said = patient.mend("--only", "wrong-permissions", "--json")
    assert said.code == 1
    assert [finding["code"] for finding in said.json["mended"]] == ["wrong-permissions"]
    assert "messaging-orphan-inbox" in patient.codes()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--only", "wrong-permission"], "did you mean wrong-permissions?"),
        (["--only", "headache"], "docs list the codes"),
        (["--only"], "expected one argument"),
        (["--cure"], "unrecognized arguments"),
        (["--salvage", "new.db"], "not allowed with"),
        (["--store", "redis:x"], "use memory:, sqlite:PATH, files:PATH or nats://"),
        (["--store", "sqlite:"], "name a file"),
    ],
)
def test_a_wrong_call_is_refused(patient: Patient, words: list[str], says: str) -> None:
    open_up(patient)
    said = patient.covey("doctor", "--fix", "--yes", *words)
    assert (said.code, said.out) == (2, "")
    assert says in said.err
    as_json = patient.covey("doctor", "--fix", "--yes", *words, "--json")
    assert (as_json.code, as_json.json["error"]["code"]) in ((2, "invalid"), (2, "usage"))
    assert is_open(patient)


@pytest.mark.parametrize("option", [["--yes"], ["--only", "stuck-offer"]])
def test_options_of_fix_are_refused_without_it(patient: Patient, option: list[str]) -> None:
    said = patient.covey("doctor", *option)
    assert (said.code, said.out) == (2, "")
    assert "it goes with --fix" in said.err


def test_the_journal_names_the_actor_of_a_repair(patient: Patient) -> None:
    patient.sql("delete from agents where name = 'coder'")
    assert patient.mend("--agent", "lead").code == 0
    patient.sql("delete from agents where name = 'coder'")
    assert patient.mend().code == 0
    events = [json.loads(line) for line in patient.covey("log", "--json", "--action", "space.mended").out.splitlines()]
    user = re.sub(r"[^A-Za-z0-9_-]", "-", getpass.getuser())
    assert [event["actor"]["agent"] for event in events] == ["lead", f"user-{user}"]
    assert events[0]["actor"]["grade"] == "claimed"
    assert events[0]["details"]["finding"] == "messaging-orphan-inbox"
    assert "agent:coder" in events[0]["details"]["items"][0]


def test_a_space_in_memory_has_only_records(bare: Patient) -> None:
    document = bare.covey("doctor", "--store", "memory:", "--json").json
    assert document["healthy"] is True
    areas = [area["area"] for area in document["areas"]]
    assert areas == ["sessions", "offers", "inboxes", "tickets", "tasks", "runs", "storms", "channels", "journal"]


def test_the_doctor_works_as_a_process(tmp_path: Path, runtime: Path) -> None:
    folder = Folder(tmp_path)
    folder.environment["COVEY_RUNTIME_DIR"] = str(runtime)
    assert folder.covey("doctor").code == 4
    assert folder.covey("init").code == 0
    assert folder.covey("doctor").out.endswith("\nHealthy.\n")
    (tmp_path / ".covey" / "covey.db").chmod(0o666)
    found = folder.covey("doctor", "--json")
    assert (found.code, found.json["findings"][0]["code"]) == (1, "wrong-permissions")
    assert folder.covey("doctor", "--fix").code == 1
    assert folder.covey("doctor", "--fix", "--yes").code == 0
    assert folder.covey("doctor", "--json").json["healthy"] is True
    assert folder.covey("doctr").err == "covey: verb 'doctr' is not valid: did you mean doctor?\n"


@pytest.mark.parametrize(("key", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1), (b"\x04", 1), (b"\x03", 130)])
def test_a_person_is_asked_and_every_line_fits(patient: Patient, key: bytes, code: int) -> None:
    open_up(patient)
    environment = {"HOME": os.environ["HOME"], "COVEY_RUNTIME_DIR": str(patient.runtime)}
    with Terminal(["doctor", "--fix"], patient.folder, environment) as terminal:
        terminal.until("Do this? [y/N] ")
        assert "wrong-permissions" in terminal.shown
        assert is_open(patient)
        terminal.press(key)
        terminal.ends_with(code)
        terminal.check_fits()
        assert ("Healthy." in plain(terminal.shown)) == (code == 0)
    assert is_open(patient) == (code != 0)


def test_codes_are_distinct_and_every_diagnosis_has_its_texts() -> None:
    codes = [diagnosis.code for diagnosis in DIAGNOSES]
    assert len(codes) == len(set(codes))
    for diagnosis in DIAGNOSES:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", diagnosis.code)
        assert diagnosis.meaning.endswith(".")
        assert diagnosis.advice.endswith(".")
        assert diagnosis.remedy is None or not diagnosis.remedy.endswith(".")


def test_a_space_stays_healthy_after_every_regular_command(patient: Patient) -> None:
    (asked,) = (item["id"] for item in patient.covey("inbox", "coder", "--json").json)
    (patient.folder / "notes.txt").write_text("as it was")
    patient.send("see", "--file", "notes.txt")
    assert patient.covey("reply", asked, "yes", "--from", "coder").code == 0
    for words in (
        ["archive", asked, "--agent", "coder"],
        ["search", "why"],
        ["gate", "T-1", "--sweep", "--agent", "lead"],
        ["prune", "--scope", "T-1", "--older-than", "0s", "--agent", "lead"],
        ["search", "why"],
        ["backup", "space.tar"],
        ["restore", "space.tar", "--to", "sqlite:restored/covey.db", "--agent", "lead"],
        ["export", "space.jsonl"],
        ["import", "space.jsonl", "--store", "sqlite:imported/covey.db"],
    ):
        assert patient.covey(*words).code == 0, words
        assert patient.codes() == [], words
    assert patient.codes("--store", "sqlite:restored/covey.db") == []
    assert patient.codes("--store", "sqlite:imported/covey.db") == []
