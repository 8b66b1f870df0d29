"""The command line on a real terminal of 80 × 24: output and keys."""

import contextlib
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

import covey as api
from covey.surfaces.cli.exits import DONE, INTERRUPTED, NOT_FOUND, UNAVAILABLE, USAGE
from covey.surfaces.python.member import Member
from tests.surfaces.commands import Folder
from tests.surfaces.terminal import COLUMNS, CTRL_C, CTRL_D, Terminal, plain

LONG = "Did you mean to drop the assertion on line 12, or was it an oversight? It was the only one that caught it."
WIDE = "解析器已经完成了吗?请在合并之前再看一遍。" * 4 + " 🎉🎉"
NASTY = "\x1b[2J\x1b]0;owned\x07 look \u202eesrever\u202c \x9b31m at\r\nthis"
NAME = "a-reviewer-with-a-name-that-is-as-long-as-a-name-may-be-in-covey"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path)
    assert made.covey("init").code == DONE
    return made


def on_terminal(folder: Folder, *words: str, captured: bool = False, **environment: str) -> Terminal:
    return Terminal(words, folder.path, {**folder.environment, **environment}, captured=captured)


def full(folder: Folder) -> str:
    """Fill a space with text that is hard to show; return the id of the first message of a long thread."""
    first = folder.covey("send", LONG, "--from", NAME, "--to", "coder", "--request", "--register", "--json").json["id"]
    for text in (WIDE, NASTY, "short"):
        words = ("--to", "coder", "--scope", "T-17", "--subject", "weak-assertion", "--round", "2", "--reply-to", first)
        assert folder.covey("send", text, "--from", NAME, *words).code == DONE
    answer = folder.covey("reply", first, LONG, "--from", "coder", "--json").json["id"]
    assert folder.covey("send", "thanks", "--from", NAME, "--to", "coder", "--reply-to", answer).code == DONE
    return first


@contextlib.asynccontextmanager
async def joined(folder: Folder, name: str) -> AsyncGenerator[Member]:
    async with api.open(f"sqlite:{folder.path}/.covey/covey.db") as space:
        yield await space.join(name)


@pytest.mark.parametrize("verb", ["inbox", "thread", "watch", "log", "agents", "owed", "receipt", "join"])
def test_output_fits_the_terminal_and_cannot_control_it(folder: Folder, verb: str) -> None:
    first = full(folder)
    words = {
        "inbox": ["inbox", "coder"],
        "thread": ["thread", first],
        "watch": ["watch", "--after", "0", "--for", "0s"],
        "log": ["log"],
        "agents": ["agents"],
        "owed": ["owed", "coder"],
        "receipt": ["receipt", first],
        "join": ["join", "coder"],
    }[verb]
    with on_terminal(folder, *words) as coloured:
        coloured.ends_with(DONE)
    coloured.check_fits()
    assert "\x1b" not in plain(coloured.shown), "only colours come from us"
    assert "\x07" not in coloured.shown
    with on_terminal(folder, *words, NO_COLOR="1") as colourless:
        colourless.ends_with(DONE)
    colourless.check_fits()
    assert "\x1b" not in colourless.shown
    with on_terminal(folder, *words, TERM="dumb") as dumb:
        dumb.ends_with(DONE)
    assert "\x1b" not in dumb.shown
    assert "\x1b" not in folder.covey(*words).out, "nor where it is piped"


def test_a_person_sees_colour_and_the_text_of_messages(folder: Folder) -> None:
    first = full(folder)
    with on_terminal(folder, "inbox", "coder") as inbox:
        inbox.ends_with(DONE)
    assert "\x1b[" in inbox.shown
    assert "short" in inbox.shown
    with on_terminal(folder, "thread", first) as thread:
        thread.ends_with(DONE)
    assert "└─" in thread.shown
    assert "oversight" in thread.shown
    with on_terminal(folder, "watch", "--after", "0", "--for", "0s") as watch:
        watch.ends_with(DONE)
    assert "\x1b[" in watch.shown
    assert "oversight" in " ".join(plain(watch.shown).split())


async def test_an_asker_sees_the_state_of_the_question_and_then_the_answer(folder: Folder) -> None:
    words = ("ask", LONG, "--from", "lead", "--to", "critic", "--register")
    with on_terminal(folder, *words) as asker:
        asker.until("queued      critic is offline: it waits for the next session")
        async with joined(folder, "critic") as critic:
            asker.until("queued      in the inbox of critic")
            showing = await critic.offer("turn 1")
            assert showing is not None
            asker.until("offered     shown to critic; no evidence yet that it was read")
            await critic.confirm(showing.offer.id, "witnessed", "a transcript")
            asker.until("in_context  critic has it in context (witnessed)")
            request = showing.items[0].message.id
            back = await critic.send("lead", "which line?", kind="request", in_reply_to=request)
            asker.until("waits       critic asks back: which line?")
            asker.until(f"answer it: covey reply {back.message_id} TEXT")
            assert folder.covey("reply", back.message_id, "12", "--from", "lead").code == DONE
            await critic.reply(request, "It was not meant.\nIt is back.")
            asker.ends_with(DONE)
    asker.check_fits()
    assert list(asker.lines[-3:]) == [f"{asker.lines[-3][:8]}  answered", "It was not meant.", "It is back."]
    assert "\x1b" not in asker.shown


def test_a_captured_stdout_has_only_the_answer_and_progress_goes_to_the_terminal(folder: Folder) -> None:
    words = ("ask", "ready?", "--from", "lead", "--to", "critic", "--register")
    with on_terminal(folder, *words, captured=True) as asker:
        asker.until("queued")
        (item,) = folder.covey("inbox", "critic", "--json").json
        assert folder.covey("reply", item["id"], "yes", "--from", "critic").code == DONE
        asker.ends_with(DONE)
        assert asker.captured_text == "yes\n"
    assert "answered" in asker.shown


def test_after_ctrl_c_the_shown_command_resumes_the_wait(folder: Folder) -> None:
    words = ("ask", "ready?", "--from", "lead", "--to", "critic", "--register")
    with on_terminal(folder, *words) as asker:
        asker.until("queued")
        asker.press(CTRL_C)
        asker.ends_with(INTERRUPTED)
    asker.check_fits()
    assert "Traceback" not in asker.shown
    assert "Interrupted. The question stays open; wait on with:" in asker.lines
    command = "\n".join(asker.lines[asker.lines.index("Interrupted. The question stays open; wait on with:") + 1 :])
    (item,) = folder.covey("inbox", "critic", "--json").json
    assert folder.covey("reply", item["id"], "late", "--from", "critic").code == DONE
    pasted = folder.run(["sh", "-c", command])
    assert (pasted.code, pasted.out) == (DONE, "late\n")


def test_after_a_timeout_the_same_is_shown_with_another_exit_code(folder: Folder) -> None:
    words = ("ask", "ready?", "--from", "lead", "--to", "critic", "--register", "--timeout", "1s")
    with on_terminal(folder, *words) as asker:
        asker.ends_with(UNAVAILABLE)
    asker.check_fits()
    shown = asker.lines
    assert shown[0].endswith("queued      critic is offline: it waits for the next session")
    assert shown[1] == "No answer from critic yet. The question stays open; wait on with:"
    assert folder.run(["sh", "-c", "\n".join(shown[2:]) + " --timeout 0s"]).code == UNAVAILABLE


@pytest.mark.parametrize("words", [["watch"], ["watch", "coder"], ["log", "-f"]])
def test_a_watcher_sees_events_until_ctrl_c(folder: Folder, words: list[str]) -> None:
    full(folder)
    with on_terminal(folder, *words) as watcher:
        watcher.until("Ctrl-C ends it.")
        for n in range(3):
            assert folder.covey("send", f"over-{n} {LONG}", "--from", "lead", "--to", "coder").code == DONE
            watcher.until(f"over-{n}")
        watcher.press(CTRL_C)
        watcher.ends_with(INTERRUPTED)
    watcher.check_fits()
    assert "Traceback" not in watcher.shown
    assert watcher.lines[-1] == "covey: interrupted"


def test_lines_fit_after_the_width_changes(folder: Folder) -> None:
    with on_terminal(folder, "watch") as watcher:
        watcher.until("Ctrl-C ends it.")
        watcher.resize(60)
        assert folder.covey("send", LONG, "--from", "lead", "--to", "coder", "--register").code == DONE
        watcher.until("caught")
        watcher.press(CTRL_C)
        watcher.ends_with(INTERRUPTED)
    lines = [plain(line) for line in watcher.lines]
    assert max(map(len, lines)) <= 60
    assert COLUMNS == 80


def test_a_text_can_be_typed_on_the_terminal(folder: Folder) -> None:
    with on_terminal(folder, "ask", "--from", "lead", "--to", "critic", "--register", "--timeout", "0s") as asker:
        asker.until("Ctrl-D")
        asker.press(b"is it done?\n" + CTRL_D)
        asker.ends_with(UNAVAILABLE)
    (item,) = folder.covey("inbox", "critic", "--json").json
    assert item["text"] == "is it done?\n"


def test_ctrl_c_while_typing_sends_nothing(folder: Folder) -> None:
    with on_terminal(folder, "ask", "--from", "lead", "--to", "critic", "--register") as asker:
        asker.until("Ctrl-D")
        asker.press(CTRL_C)
        asker.ends_with(INTERRUPTED)
    assert "Traceback" not in asker.shown
    assert folder.covey("log", "--json").out == ""


def test_the_shown_exports_of_join_can_be_pasted(folder: Folder) -> None:
    with on_terminal(folder, "join", "coder", "--pid", str(os.getpid())) as joiner:
        joiner.ends_with(DONE)
    joiner.check_fits()
    shown = joiner.lines
    begin = next(n for n, line in enumerate(shown) if line.startswith("export"))
    pasted = "\n".join([*shown[begin:-1], "cd /; covey send hello --to coder --json"])
    said = folder.run(["sh", "-c", pasted])
    assert said.code == DONE
    (item,) = folder.covey("inbox", "coder", "--json").json
    assert (item["text"], item["grade"]) == ("hello", "session")


@pytest.mark.parametrize("verb", ["join", "leave", "ask", "watch", "log"])
def test_help_fits(folder: Folder, verb: str) -> None:
    with on_terminal(folder, verb, "--help") as helper:
        helper.ends_with(DONE)
    helper.check_fits()


def test_a_wrong_agent_gets_the_closest_name_on_one_line(folder: Folder) -> None:
    full(folder)
    with on_terminal(folder, "watch", "codr") as watcher:
        watcher.ends_with(NOT_FOUND)
    assert "did you mean coder?" in watcher.shown
    with on_terminal(folder, "wach") as typo:
        typo.ends_with(USAGE)
    assert "did you mean watch?" in typo.shown
