"""Programs that are run for tasks, and the results that the delegator gets.

All programs run in one worker, several at a time. No program may change the result of another.
"""

import io
import json
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from covey.runtime.programs.outcomes import LARGEST, MOST
from covey.runtime.programs.output import LONGEST_TEXT
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.main import main
from tests.surfaces.commands import Folder, Said
from tests.surfaces.work.desk import Desk, Ended, marked

COVEY = "import subprocess\ndef covey(*words): subprocess.run([sys.executable, '-m', 'covey', *words], check=True)\n"

PROGRAMS: Mapping[str, str] = {
    "prints": "print('fixed: ä')",
    "says nothing": "",
    "acts": COVEY + "covey('send', '--to', 'ann', 'from within')",
    "leaves files": (
        "(output / 'sub').mkdir()\n(output / 'a.txt').write_text('A')\n(output / 'sub' / 'a.txt').write_text('B')"
    ),
    "leaves a huge file": (
        f"os.truncate(os.open(output / 'huge.bin', os.O_CREAT | os.O_WRONLY), {LARGEST + 1})\n"
        "(output / 'small.txt').write_text('S')\nprint('done')"
    ),
    "leaves many files": f"for n in range({MOST + 2}): (output / f'{{n:03}}').write_text('x')",
    "links out": (
        "root = Path.cwd()\nos.symlink(root / 'secret.txt', output / 'link.txt')\n"
        "os.symlink(root / 'secrets', output / 'folder')\nos.mkfifo(output / 'pipe')\n"
        "print(json.dumps({'files': ['link.txt', 'folder/more.txt', '../../../../../../secret.txt', 'pipe', 'none']}))"
    ),
    "is a link": "output.rmdir()\nos.symlink(Path.cwd() / 'secrets', output)\nprint('no secret')",
    "result file": (
        "(output / 'result.json').write_text(json.dumps({'text': 'from file', 'files': ['a']}))\n"
        "(output / 'a').write_text('A')\n(output / 'b').write_text('B')\nprint('chatter')"
    ),
    "broken result file": "(output / 'result.json').write_text('{')\nprint('chatter')",
    "huge result file": "os.truncate(os.open(output / 'result.json', os.O_CREAT | os.O_WRONLY), 10_000_000_000)",
    "exit code": "print('out')\nprint('line 1\\nFileNotFoundError: x', file=sys.stderr)\nsys.exit(3)",
    "signal": "os.kill(os.getpid(), signal.SIGSEGV)",
    "flood": "print('begin')\nfor _ in range(300): print('x' * 99_999)\nprint('end')",
    "binary": "sys.stdout.buffer.write(bytes(range(256)))",
    "daemon": (
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        os.closerange(0, 100)\n        time.sleep(600)\n    os._exit(0)\nprint('gone')"
    ),
    "by itself": COVEY + "covey('update', '--complete', 'by myself')\ntime.sleep(0.3)\nPath('went-on').touch()",
    "progress": "for n in range(50): print(f'::progress {n} of 50', flush=True); time.sleep(0.01)\nprint('done')",
}

RESULTS: Mapping[str, tuple[object, str, str, object]] = {
    "result": ({"result": "fine", "data": [1]}, "completed", "fine", [1]),
    "text": ({"text": "fine"}, "completed", "fine", None),
    "object": ({"result": {"n": 1}}, "completed", "", {"n": 1}),
    "claude": ({"type": "result", "is_error": False, "result": "said", "num_turns": 3}, "completed", "said", None),
    "claude's error": (
        {"type": "result", "is_error": True, "result": "Not logged in"},
        "failed",
        "Not logged in.",
        None,
    ),
    "error": ({"error": "no way", "data": 7}, "failed", "no way.", 7),
    "other": ({"score": 3}, "completed", '{"score": 3}', None),
    "list": ([1, 2], "completed", "[1, 2]", None),
}
"""The printed value, and the resulting state, first line and data."""


def _said(*words: str) -> Said:
    """Run a command in this process, and return its result."""
    with redirect_stdout(io.StringIO()) as out:
        code = main(words)
    return Said(code, out.getvalue(), "")


class Run(Mapping[str, Ended]):
    """The results of all programs, by name."""

    def __init__(self, folder: Path) -> None:
        space = Folder(folder)
        assert space.covey("init").code == DONE
        self.desk = Desk(lambda *words: _said(*words, "--store", f"sqlite:{folder}/.covey/covey.db"), folder)
        (folder / "secret.txt").write_text("secret")
        (folder / "secrets").mkdir()
        (folder / "secrets" / "more.txt").write_text("secret")
        (folder / "secrets" / "result.json").write_text('{"text": "secret"}')
        codes = {**PROGRAMS, **{name: f"print({json.dumps(json.dumps(r[0]))})" for name, r in RESULTS.items()}}
        for name, code in codes.items():
            self.desk.program(code, name)
        self.tasks = {name: self.desk.delegate(name) for name in codes}
        chosen = self.desk.program("exec(Path(sys.stdin.read()).read_text())")
        words = ("--bare-prompt", "--concurrency", "4", "--quota", "4", "--once", "--json")
        self.said = space.covey("work", "coder", "--run", chosen, *words)
        assert self.said.code == DONE, self.said

    def __getitem__(self, name: str) -> Ended:
        return self.desk.ended(self.tasks[name])

    def __iter__(self):
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(tmp_path_factory.mktemp("run"))


def test_the_output_of_a_program_is_the_result(ended: Run) -> None:
    assert ended["prints"][:3] == ("completed", "", "fixed: ä")


def test_a_program_without_output_completes_its_task(ended: Run) -> None:
    assert ended["says nothing"][:3] == ("completed", "", "Done.")


def test_a_program_can_act_as_its_agent(ended: Run) -> None:
    assert ended["acts"].state == "completed"
    messages = ended.desk.covey("inbox", "ann", "--json").json
    assert [(m["from"], m["grade"]) for m in messages if m["text"] == "from within"] == [("coder", "session")]


def test_files_in_the_output_folder_are_attached_to_the_result(ended: Run) -> None:
    assert ended["leaves files"].files == {"a.txt": b"A", "sub_a.txt": b"B"}


def test_a_file_over_the_limit_is_named_and_left_out(ended: Run) -> None:
    huge = ended["leaves a huge file"]
    assert (huge.state, huge.files) == ("completed", {"small.txt": b"S"})
    assert f"huge.bin ({LARGEST + 1:,} bytes; the limit is {LARGEST:,})" in huge.text


def test_files_over_the_limit_of_their_number_are_named_and_left_out(ended: Run) -> None:
    many = ended["leaves many files"]
    assert len(many.files) == MOST
    assert f"101 (more than {MOST} files)" in many.text


def test_a_link_out_of_the_output_folder_is_not_followed(ended: Run) -> None:
    linked = ended["links out"]
    assert (linked.state, linked.files) == ("completed", {})
    assert "link.txt (a link" in linked.text
    assert "folder/more.txt (there is no such file" in linked.text
    assert "pipe (no file" in linked.text


def test_an_output_folder_that_became_a_link_adds_no_files(ended: Run) -> None:
    linked = ended["is a link"]
    assert (linked.state, linked.files) == ("completed", {})
    assert "no secret" in linked.text
    assert "output (a link" in linked.text


@pytest.mark.parametrize("name", RESULTS)
def test_a_json_result_is_parsed(ended: Run, name: str) -> None:
    found = ended[name]
    assert (found.state, found.text.split("\n")[0], found.data) == RESULTS[name][1:]


def test_a_result_file_takes_precedence_over_the_output(ended: Run) -> None:
    assert ended["result file"][2:] == ("from file", None, {"a": b"A"})
    broken = ended["broken result file"]
    assert broken.state == "failed"
    assert "result.json" in broken.reason
    assert "10,000,000,000 bytes" in ended["huge result file"].reason


def test_an_exit_code_is_a_failure_with_the_end_of_stderr(ended: Run) -> None:
    found = ended["exit code"]
    assert found.state == "failed"
    assert "exited with code 3: FileNotFoundError: x" in found.reason
    assert "line 1\nFileNotFoundError: x" in found.text


def test_a_signal_is_a_failure_that_names_the_signal(ended: Run) -> None:
    assert ended["signal"].state == "failed"
    assert "was ended by SIGSEGV" in ended["signal"].reason


def test_a_flood_of_output_is_cut_and_says_so(ended: Run) -> None:
    text = ended["flood"].text
    assert (text.startswith("begin"), text.endswith("end"), "bytes left out" in text) == (True, True, True)
    assert len(text) < LONGEST_TEXT + 100


def test_binary_output_becomes_a_file(ended: Run) -> None:
    assert ended["binary"].files == {"stdout.bin": bytes(range(256))}


def test_processes_that_a_program_starts_end_with_it(ended: Run) -> None:
    assert ended["daemon"].text == "gone"
    assert [marked("COVEY_TASK", task) for task in ended.tasks.values()] == [[]] * len(ended)


def test_a_program_may_report_its_own_result_and_go_on(ended: Run) -> None:
    assert ended["by itself"][:3] == ("completed", "", "by myself")
    assert (ended.desk.folder / "went-on").exists()


def test_progress_is_reported_at_most_once_a_second_and_is_no_part_of_the_result(ended: Run) -> None:
    task = ended.tasks["progress"]
    steps = [line for line in ended.said.json_lines if line["event"] == "progress" and line["task"] == task]
    assert 1 <= len(steps) <= 5, steps
    assert ended["progress"].text == "done"
    assert ended.desk.moves(task).count("progress") == len(steps)


def test_each_task_ran_once_and_was_reported_as_json(ended: Run) -> None:
    lines = ended.said.json_lines
    assert (lines[0]["event"], lines[0]["agent"], lines[0]["quota"]) == ("ready", "coder", 4)
    for task in ended.tasks.values():
        told = [line["event"] for line in lines if line.get("task") == task and line["event"] != "progress"]
        assert told[:2] == ["taken", "started"]
        assert told[2:] in (["completed"], ["failed"])
