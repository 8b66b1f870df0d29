"""covey send: its flags, and where its text comes from."""

import io
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from covey.core.limits import MAX_ENVELOPE_BYTES
from covey.surfaces.cli.exits import DONE, NOT_FOUND, REFUSED, USAGE
from tests.surfaces.commands import LIMIT_S, Folder
from tests.surfaces.conftest import Covey

TO_CODER = ("--from", "lead", "--to", "coder")


@pytest.fixture(autouse=True)
def _coder(covey: Covey) -> None:
    assert covey("send", "hello", *TO_CODER, "--register").code == DONE


def newest(covey: Covey) -> Any:
    return covey("inbox", "coder", "--json").json[-1]


def type_in(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """Put bytes on stdin."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_every_flag_arrives(covey: Covey) -> None:
    first = newest(covey)["id"]
    words = ("--request", "--subject", "missing-test", "--scope", "T-17", "--round", "2", "--expires", "2h")
    said = covey("send", "why no test?", *TO_CODER, *words, "--reply-to", first, "--park", "--json")
    assert said.code == DONE
    item = newest(covey)
    assert (item["kind"], item["expects_reply"], item["subject"]) == ("request", True, "missing-test")
    assert (item["scope"], item["round"], item["in_reply_to"], item["thread"]) == ("T-17", 2, first, first)
    left = datetime.fromisoformat(item["expires_at"]) - datetime.now(UTC)
    assert 7100 < left.total_seconds() <= 7200


def test_several_recipients_have_a_line_each_and_one_that_has_it_is_enough(covey: Covey) -> None:
    said = covey("send", "hi", *TO_CODER, "--to", "critic", "--register")
    assert said.code == DONE
    assert [line.split()[0] for line in said.out.splitlines()[2:]] == ["coder", "critic"]


def test_where_nobody_is_live_it_can_be_refused(covey: Covey) -> None:
    said = covey("send", "hi", *TO_CODER, "--refuse", "--json")
    assert (said.code, said.json["deliveries"][0]["state"]) == (REFUSED, "undeliverable")
    assert len(covey("inbox", "coder", "--json").json) == 1


def test_the_same_id_again_does_nothing_twice(covey: Covey) -> None:
    message_id = "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"
    first = covey("send", "once", *TO_CODER, "--id", message_id, "--json").json
    assert covey("send", "once", *TO_CODER, "--id", message_id, "--json").json == first
    other = covey("send", "twice", *TO_CODER, "--id", message_id, "--json")
    assert (other.code, other.json["error"]["code"]) == (REFUSED, "message-id-reused")
    assert len(covey("inbox", "coder", "--json").json) == 2


@pytest.mark.parametrize("words", [[], ["-"]])
def test_the_text_comes_from_stdin(covey: Covey, monkeypatch: pytest.MonkeyPatch, words: Sequence[str]) -> None:
    type_in(monkeypatch, "zwei Zeilen\n語 🐦\n".encode())
    assert covey("send", *words, *TO_CODER).code == DONE
    assert newest(covey)["text"] == "zwei Zeilen\n語 🐦\n"


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (b"", "invalid", "text is missing"),
        (b" \n\t\n", "invalid", "text is missing"),
        (b"\xff\xfe\x00binary", "invalid", "attach what is not text with --file"),
        (b"x" * (MAX_ENVELOPE_BYTES + 1), "message-too-large", "with --file"),
        (b"x" * MAX_ENVELOPE_BYTES, "message-too-large", "with --file"),
    ],
    ids=["empty", "blank", "binary", "huge", "too large with its envelope"],
)
def test_what_is_no_text_on_stdin_is_refused_and_the_error_says_what_to_do(
    covey: Covey, monkeypatch: pytest.MonkeyPatch, content: bytes, code: str, says: str
) -> None:
    type_in(monkeypatch, content)
    said = covey("send", *TO_CODER)
    assert (said.code, said.out) == (USAGE if code == "invalid" else REFUSED, "")
    assert says in said.err
    assert said.err.count("\n") == 1
    type_in(monkeypatch, content)
    assert covey("send", *TO_CODER, "--json").json["error"]["code"] == code
    assert len(covey("inbox", "coder", "--json").json) == 1


def test_a_file_can_go_without_text(covey: Covey, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "core").write_bytes(b"\x00\xff" * 1000)
    type_in(monkeypatch, b"")
    assert covey("send", *TO_CODER, "--file", "core").code == DONE
    assert [part["type"] for part in newest(covey)["parts"]] == ["file"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["", *TO_CODER], USAGE, "text is missing"),
        (["hi", *TO_CODER, "--subject", "Not Kebab"], USAGE, "kebab-case"),
        (["hi", *TO_CODER, "--scope", ".hidden"], USAGE, "no leading dot"),
        (["hi", *TO_CODER, "--round", "two"], USAGE, "invalid int value"),
        (["hi", *TO_CODER, "--round", "-1"], USAGE, "use 0 to"),
        (
            ["hi", *TO_CODER, "--reply-to", "1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"],
            NOT_FOUND,
            "no message",
        ),
        (["hi", *TO_CODER, "--file", "nowhere.txt"], USAGE, "nowhere.txt"),
        (["hi", *TO_CODER, "--file", "/etc/passwd"], REFUSED, "outside the declared roots"),
        (["hi", *TO_CODER, "--subjct", "x"], USAGE, "did you mean --subject?"),
        (["bad \udcff bytes", *TO_CODER], USAGE, "it is not UTF-8"),
        (["hi", "--from", "lead", "--to", ""], USAGE, "name an agent"),
    ],
)
def test_a_wrong_flag_sends_nothing(covey: Covey, words: Sequence[str], code: int, says: str) -> None:
    said = covey("send", *words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    assert said.err.count("\n") == 1
    assert len(covey("inbox", "coder", "--json").json) == 1


def piped(folder: Folder, content: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "covey", "send", *words]
    return subprocess.run(
        command,
        cwd=folder.path,
        env=folder.environment,
        input=content,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_as_a_real_process(folder: Folder) -> None:
    assert piped(folder, "aus der Röhre".encode(), *TO_CODER).returncode == DONE
    assert folder.covey("inbox", "coder", "--json").json[-1]["text"] == "aus der Röhre"
    binary = piped(folder, os.urandom(64) + b"\xff", *TO_CODER)
    assert (binary.returncode, binary.stdout) == (USAGE, b"")
    assert b"--file" in binary.stderr
    empty = piped(folder, b"", *TO_CODER, "--json")
    assert (empty.returncode, b'"invalid"' in empty.stdout) == (USAGE, True)
    assert piped(folder, b"x" * 3_000_000, *TO_CODER).returncode == REFUSED, "what is not read breaks nothing"
    closed = folder.run(["sh", "-c", "covey send --from lead --to coder <&-"])
    assert (closed.code, "stdin is closed" in closed.err) == (USAGE, True)
    bytes_argument = folder.run(["sh", "-c", "covey send \"$(printf '\\377')\" --from lead --to coder"])
    assert (bytes_argument.code, "not UTF-8" in bytes_argument.err) == (USAGE, True)
