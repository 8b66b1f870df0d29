"""The lines of an export: changed, truncated or reordered lines are found, with their line number."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from covey.core.errors import ExportDamaged, ExportNewer
from covey.core.formats.export import ExportHeader, ExportReader, ExportSummary, LineWriter, tail
from covey.core.formats.portable import FiledMessage, NumberedAgent, Record, Setting
from covey.testing.records import a_delivery, a_message, an_agent, an_event

HEADER = ExportHeader(7, datetime(2026, 4, 30, tzinfo=UTC), "1.2.3")
RECORDS: Sequence[Record] = (
    NumberedAgent(an_agent("ann"), 2),
    NumberedAgent(an_agent("bob")),
    Setting("s", "v"),
    an_event(1),
    an_event(2),
    FiledMessage(a_message(1, text="ä\u2028\n🐦")),
    FiledMessage(a_message(2)),
    a_delivery(1),
    a_delivery(2),
)


def written(records: Sequence[Record] = RECORDS, header: ExportHeader = HEADER) -> list[bytes]:
    writer = LineWriter()
    return [writer.header(header), *map(writer.record, records), writer.end()]


def read(lines: Sequence[bytes]) -> tuple[list[Record], ExportSummary]:
    reader = ExportReader()
    records = [record for line in lines if (record := reader.take(line)) is not None]
    return records, reader.end()


def resealed(line: bytes, old: bytes, new: bytes) -> bytes:
    """Change a line and give it a matching checksum."""
    assert old in line
    body = line.replace(old, new)[: -len(tail(b""))]
    return body + tail(body)


def test_an_export_is_read_as_it_was_written() -> None:
    records, summary = read(written())
    assert records == list(RECORDS)
    assert summary.header == HEADER
    assert summary.counts == {"agent": 2, "setting": 1, "event": 2, "message": 2, "delivery": 2}
    assert summary.records == 9


def test_a_line_is_one_line_of_json_that_ends_with_its_sum() -> None:
    for line in written():
        assert line.count(b"\n") == 1
        assert b',"sum":"' in line


def test_an_empty_export_is_valid() -> None:
    assert read(written(()))[1].records == 0


def test_the_digest_does_not_depend_on_when_it_was_exported() -> None:
    later = LineWriter()
    later.header(HEADER._replace(exported_at=datetime(2027, 1, 1, tzinfo=UTC)))
    for record in RECORDS:
        later.record(record)
    assert later.totals.digest == read(written())[1].digest


Spoil = Callable[[list[bytes]], Sequence[bytes]]


def _change(number: int, old: bytes, new: bytes) -> Spoil:
    return lambda lines: [line.replace(old, new) if n == number else line for n, line in enumerate(lines, 1)]


def _reseal(number: int, old: bytes, new: bytes) -> Spoil:
    return lambda lines: [resealed(line, old, new) if n == number else line for n, line in enumerate(lines, 1)]


DAMAGES: list[tuple[Spoil, int, str]] = [
    (lambda lines: [], 1, "cut off"),
    (lambda lines: [b"hello\n"], 1, "not an export"),
    (lambda lines: [b"[1]\n"], 1, "not an export"),
    (lambda lines: [b"\xff\xfe\n"], 1, "not an export"),
    (lambda lines: [b"[" * 100_000 + b"\n"], 1, "not an export"),
    (_change(1, b'"version":3', b'"version":0'), 1, "there is no version"),
    (_change(1, b'"version":3', b'"version":"3"'), 1, "there is no version"),
    (_change(1, b'"version":3', b'"version":1'), 1, "was changed"),
    (_change(1, b'"position":7', b'"position":8'), 1, "was changed"),
    (_reseal(1, b'"position":7', b'"position":-1'), 1, "not valid"),
    (lambda lines: lines[:1], 2, "cut off"),
    (lambda lines: lines[:5], 6, "cut off"),
    (lambda lines: lines[:-1], 11, "cut off"),
    (lambda lines: [*lines[:4], lines[4][:20]], 5, "the line is cut off"),
    (lambda lines: [*lines[:-1], lines[-1][:-1]], 11, "the line is cut off"),
    (_change(7, "ä".encode(), b"a"), 7, "was changed"),
    (_change(7, b"\n", b" \n"), 7, "was changed"),
    (_change(3, b'"sum":"', b'"sum":"0'), 3, "was changed"),
    (_reseal(7, "ä".encode(), b"a"), 11, "counts or hashes of message"),
    (_reseal(4, b'"setting"', b'"sitting"'), 4, "no kind of record"),
    (_reseal(4, b'"setting"', b"7"), 4, "no kind of record"),
    (_reseal(4, b'"setting"', b'"agent"'), 4, "card is missing"),
    (_reseal(4, b'"value"', b'"worth"'), 4, "value is missing"),
    (_reseal(4, b'"v"', b'"\\ud800"'), 4, "not JSON"),
    (_reseal(4, b'"v"', b"NaN"), 4, "not JSON"),
    (lambda lines: [*lines[:5], *lines[6:]], 10, "counts or hashes of event"),
    (lambda lines: [*lines[:5], lines[4], *lines[5:]], 12, "counts or hashes of event"),
    (lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]], 11, "counts or hashes of event"),
    (lambda lines: [lines[0], lines[4], *lines[1:4], *lines[5:]], 3, "comes too late"),
    (lambda lines: [*lines, lines[-1]], 12, "after the end"),
    (lambda lines: [*lines, b"\n"], 12, "after the end"),
    (_reseal(11, b'"count":2', b'"count":3'), 11, "counts or hashes of agent"),
    (lambda lines: [*lines[:-1], written(())[-1]], 11, "counts or hashes of agent"),
]


@pytest.mark.parametrize(("spoil", "line", "says"), DAMAGES)
def test_damage_is_found_with_its_line(spoil: Spoil, line: int, says: str) -> None:
    with pytest.raises(ExportDamaged) as caught:
        read(spoil(written()))
    assert caught.value.details["line"] == line
    assert says in caught.value.message


def test_a_newer_version_is_refused_before_anything_else_is_checked() -> None:
    with pytest.raises(ExportNewer) as caught:
        read([b'{"format":"covey-export","version":4}\n'])
    assert caught.value.details == {"version": 4, "known": 3}


def test_an_older_version_is_read_too() -> None:
    lines = written(header=HEADER._replace(version=1))
    records, summary = read(lines)
    assert records == list(RECORDS)
    assert summary.header.version == 1
    assert lines[1:] == written()[1:]
