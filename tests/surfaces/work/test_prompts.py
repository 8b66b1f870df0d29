"""The prompt that a program gets for its task."""

from covey.runtime.programs.command import LONGEST_WORD
from tests.surfaces.work.desk import Desk


def test_the_prompt_contains_the_task_the_delegator_the_files_and_the_ways_to_report(desk: Desk) -> None:
    (desk.folder / ".hidden note.txt").write_text("a note")
    more = ("--file", ".hidden note.txt", "--data", '{"n": 1}', "--deadline", "2h")
    task = desk.delegate("Fix {task} & co.", *more)
    look = "[(p.name, p.read_text(), oct(p.stat().st_mode)) for p in (folder / 'attachments').iterdir()]"
    desk.work(desk.program(f"print(json.dumps({{'text': sys.stdin.read(), 'data': {look}}}))"))
    ended = desk.ended(task)
    for expected in ("You are the agent coder.", "ann has handed you", "Fix {task} & co.", '{"n": 1}', "note.txt"):
        assert expected in ended.text
    for expected in (f"Its id is {task}", "covey update --progress", "::progress", "It has to be done by"):
        assert expected in ended.text
    assert ended.data == [["hidden_note.txt", "a note", "0o100600"]]


def test_a_prompt_in_the_command_is_always_one_argument(desk: Desk) -> None:
    text = 'it\'s $HOME; `id` {agent} "{prompt}" \n* &'
    task = desk.delegate(text)
    command = desk.program("print(json.dumps({'data': sys.argv[1:], 'text': sys.stdin.read()}))")
    desk.work(f"{command} x={{prompt}} {{agent}}/{{task}} {{folder}} {{other}}", "--bare-prompt")
    ended = desk.ended(task)
    first, second, folder, other = ended.data
    assert (first, second, other) == (f"x={text.strip()}", f"coder/{task}", "{other}")
    assert folder.startswith(str(desk.folder / ".covey" / "work" / "coder" / task))
    assert ended.text == "", "there is nothing to read on stdin"


def test_a_prompt_that_is_too_long_for_an_argument_is_a_reported_failure(desk: Desk) -> None:
    task = desk.delegate("x" * (LONGEST_WORD + 1))
    desk.work("echo {prompt}")
    ended = desk.ended(task)
    assert ended.state == "failed"
    assert "stdin" in ended.reason


def test_a_large_prompt_that_is_not_read_blocks_nothing(desk: Desk) -> None:
    task = desk.delegate("x" * 900_000)
    desk.work("echo not read")
    assert desk.ended(task)[:3] == ("completed", "", "not read")
