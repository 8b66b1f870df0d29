"""`covey watch` and `covey log`: the journal, read and followed."""

import asyncio
import json
import re
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

import covey as api
from covey.core.coroutine import finish
from covey.core.identity import THE_SPACE
from covey.core.ledger.event import Action, Event
from covey.core.names import AgentName
from covey.engines import connect_inline, locate
from covey.services.space import Services
from covey.surfaces.cli.exits import DONE, INTERRUPTED, NOT_FOUND, USAGE
from covey.surfaces.cli.live import PAGE
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.views.events import SILENT
from covey.surfaces.cli.views.log_lines import LogLine, LogNarrator, LogTable
from tests.surfaces.commands import Folder, Said
from tests.surfaces.conftest import Covey

EVERYTHING = ("--after", "0", "--for", "0s")


async def live(store: Path) -> None:
    """Let something of every kind happen in a space."""
    async with api.open(f"sqlite:{store}/.covey/covey.db") as space:
        lead = await space.join("lead")
        receipt = await lead.send(
            "critic", "is it done?", kind="request", scope="T-1", subject="parser", when_unknown="register"
        )
        critic = await space.join("critic")
        showing = await critic.offer("turn 1")
        assert showing is not None
        await critic.heartbeat()
        await critic.confirm(showing.offer.id, "witnessed", "a transcript")
        await critic.set_busy()
        await critic.set_status("reading")
        await critic.send("lead", "which parser?", kind="request", in_reply_to=receipt.message_id)
        question = await lead.inbox.next(timeout=10)
        assert question is not None
        await question.reply("the new one")
        await critic.reply(receipt.message_id, "yes", close=True)
        await lead.send(["critic", "lead"], "thanks, both", when_unknown="register")
        await lead.send("critic", "is it merged?", kind="request", scope="T-2", subject="merge")
        await lead.gate("T-2", force_because="no time")
        await lead.sweep("T-1", force_because="done")


async def test_what_happens_is_told_in_a_line_each_with_the_words_of_the_ledger(folder: Folder) -> None:
    await live(folder.path)
    said = folder.covey("watch", *EVERYTHING)
    assert (said.code, said.err) == (DONE, "Watching the space; Ctrl-C ends it.\n")
    lines = [re.fullmatch(r"\d\d:\d\d:\d\d  (\S+) +(.*)", line) for line in said.out.splitlines()]
    told = [(line[1], line[2]) for line in lines if line]
    assert len(told) == len(lines)
    for expected in [
        ("joined", "lead: agent:lead:main"),
        ("request", "lead (session) → critic [T-1 · parser]: is it done?"),
        ("queued", "critic #1: now with a live session"),
        ("offered", "critic #1"),
        ("in_context", "critic #1: evidence: witnessed"),
        ("busy", "critic"),
        ("status", "critic: reading"),
        ("waits", "critic's answer to lead: lead has a question to answer first"),
        ("answered", "lead's answer to critic"),
        ("owed", "critic's answer to lead: the question back is settled"),
        ("response", "critic (session) → lead [T-1 · parser]: yes"),
        ("handled", "critic #1: answered"),
        ("notify", "lead (session) → critic, lead: thanks, both"),
        ("forced", "T-2 by lead (session): why no time"),
        ("closed", "critic's answer to lead: force"),
        ("left", "critic: agent:critic:main, left"),
        ("queued", "critic #4: parked"),
    ]:
        assert expected in told, told
    events = folder.covey("watch", "--json", *EVERYTHING).json_lines
    journal = folder.covey("log", "--json").json_lines
    assert [event["position"] for event in events] == [event["position"] for event in journal]
    silent = [event for event in events if Action(event["action"]) in SILENT]
    assert len(silent) >= 2, "programs get what is not told to people"
    assert len(told) == len(events) - len(silent)
    (first, *_) = [event["content"] for event in events if event["action"] == "message.sent"]
    assert (first["text"], first["from"]) == ("is it done?", "lead")


def test_one_agent_is_watched_with_what_it_got_did_and_sent(covey: Covey) -> None:
    assert covey("send", "to you", "--from", "a", "--to", "b", "--register").code == DONE
    assert covey("send", "to others", "--from", "a", "--to", "c", "--register").code == DONE
    assert covey("send", "to all of you", "--from", "a", "--to", "b", "--to", "c").code == DONE
    assert covey("send", "from you", "--from", "b", "--to", "c").code == DONE
    assert covey("withdraw", covey("log", "--json").json_lines[-1]["message"], "--agent", "b").code == DONE
    said = covey("watch", "b", *EVERYTHING)
    assert said.code == DONE
    assert said.err == "Watching b (offline, 2 waiting); Ctrl-C ends it.\n"
    told = [re.split(r" {2,}", line)[1:] for line in said.out.splitlines()]
    assert [word for word, _ in told] == ["registered", "notify", "notify", "notify", "withdrawn"]
    assert "to others" not in said.out
    assert covey("watch", "--agent", "b", *EVERYTHING).out == said.out
    by_c = covey("watch", "c", *EVERYTHING).out
    assert "to you" not in by_c
    assert "withdrawn" in by_c


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["watch", "critc"], NOT_FOUND, "did you mean critic?"),
        (["watch", "--limit", "0"], USAGE, "1 or more"),
        (["watch", "--for", "ever"], USAGE, "use 90s, 10m"),
        (["watch", "--after", "x"], USAGE, "invalid int"),
        (["log", "-f", "--for", "ever"], USAGE, "use 90s, 10m"),
        (["log", "--limit", "-1"], USAGE, "1 or more"),
        (["log", "--after", "1", "--since", "1h"], USAGE, "not allowed with"),
        (["log", "--since", "yesterday"], USAGE, "ISO 8601"),
        (["log", "--action", "message.lost"], USAGE, "invalid choice"),
        (["log", "--about", "critc"], NOT_FOUND, "did you mean critic?"),
        (["log", "-f", "--about", "critc"], NOT_FOUND, "did you mean critic?"),
    ],
)
def test_a_wrong_watch_or_log_says_why(covey: Covey, words: list[str], code: int, says: str) -> None:
    assert covey("send", "hi", "--from", "lead", "--to", "critic", "--register").code == DONE
    said = covey(*words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err
    as_json = covey(*words, "--json")
    assert (as_json.code, list(as_json.json)) == (code, ["error"])


def test_the_journal_is_read_from_a_position_or_a_time_and_says_when_there_is_more(covey: Covey) -> None:
    for n in range(5):
        assert covey("send", f"number {n}", "--from", "a", "--to", "b", "--register").code == DONE
    everything = covey("log", "--json").json_lines
    part = covey("log", "--limit", "3")
    assert len(part.out.splitlines()) == 3
    after = re.fullmatch(r"There is more: --after (\d+)\n", part.err)
    assert after is not None
    assert covey("log", "--json", "--after", after[1]).json_lines == everything[3:]
    middle = everything[4]["at"]
    newer = [event for event in everything if event["at"] > middle]
    assert covey("log", "--json", "--since", middle).json_lines == newer
    assert covey("log", "--json", "--since", "1h").json_lines == everything
    assert covey("log", "--since", "2200-01-01T00:00:00Z").out == "No event matches.\n"


def test_a_line_of_the_log_has_the_time_the_agents_the_action_and_the_text(covey: Covey) -> None:
    sent = covey("send", "Why two retries?\nThe log says", "--from", "a", "--to", "b", "--register", "--request")
    message_id = sent.out.splitlines()[0]
    (line,) = covey("log", "--action", "message.sent").out.splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d  a → b  asked  Why two retries\? The log says", line)
    (line,) = covey("log", "--action", "message.sent", "--ids").out.splitlines()
    assert re.match(r" +\d+  \d\d-\d\d \d\d:\d\d:\d\d  a → b  asked  Why two retries\?", line)
    assert f"[message.sent by a (claimed); message {message_id}, " in line
    assert "deliveries (id ….1, inbox agent:b, state queued)" in line


async def test_every_event_of_a_story_has_one_line_in_plain_words(folder: Folder) -> None:
    await live(folder.path)
    lines = folder.covey("log").out.splitlines()
    assert len(lines) == len(folder.covey("log", "--json").json_lines)
    told = [tuple(re.split(r" {2,}", line)[1:]) for line in lines]
    for expected in [
        ("lead", "joined", "agent:lead:main"),
        ("lead → critic", "asked", "is it done?"),
        ("critic", "was shown", 'critic:1 "is it done?"'),
        ("critic", "confirmed", 'critic:1 "is it done?": witnessed, a transcript'),
        ("critic", "is busy"),
        ("critic", "set its status", "reading"),
        ("critic", "asked back", '"is it done?" of lead: lead answers first'),
        ("critic → lead", "answered", "yes"),
        ("critic", "question answered", '"is it done?" of lead'),
        ("lead → critic, lead", "told", "thanks, both"),
        ("lead", "forced the gate", "T-2: no time"),
        ("lead", "swept", "T-1"),
        ("critic", "left"),
        ("critic", "mail parked", 'critic:4 "is it merged?"'),
    ]:
        assert expected in told, told


@pytest.mark.parametrize("action", Action)
def test_every_action_of_the_journal_has_a_wording(action: Action) -> None:
    """An event of an older version may have no details: its line still names the agent and the action."""
    services = Services(connect_inline(locate("memory:"), []))
    event = Event(action, THE_SPACE, datetime(2026, 1, 1, tzinfo=UTC), agent=AgentName("coder"))
    line = finish(LogNarrator(services).line(event))
    assert line.who in ("coder", THE_SPACE.agent)
    assert re.fullmatch("[a-z][A-Za-z ]+", line.word), line


def test_events_of_another_day_have_a_date(capsys: pytest.CaptureFixture[str]) -> None:
    event = Event(Action.SESSION_JOINED, THE_SPACE, datetime(2026, 1, 1, 12, tzinfo=UTC), agent=AgentName("coder"))
    table = LogTable(Output(False), datetime(2026, 1, 3, tzinfo=UTC), with_ids=False)
    table.write([event], [LogLine("coder", "joined", "agent:coder:main")])
    assert re.fullmatch(r"\d\d-\d\d \d\d:\d\d:00  coder  joined  agent:coder:main\n", capsys.readouterr().out)


def test_following_the_journal_begins_with_what_is_there_and_ends_when_told(covey: Covey) -> None:
    assert covey("send", "hi", "--from", "a", "--to", "b", "--register").code == DONE
    followed = covey("log", "-f", "--after", "0", "--for", "0s", "--json")
    assert followed.code == DONE
    assert followed.json_lines == covey("log", "--json").json_lines
    assert covey("log", "-f", "--for", "0s", "--json").out == ""
    limited = covey("log", "-f", "--after", "0", "--limit", "2", "--json")
    assert limited.json_lines == followed.json_lines[:2]


async def test_more_than_a_page_is_followed_in_its_order_and_once(folder: Folder) -> None:
    async with api.open(f"sqlite:{folder.path}/.covey/covey.db") as space:
        lead = await space.join("lead")
        await asyncio.gather(*(lead.send("lead", str(n)) for n in range(PAGE + 1)))
    events = folder.covey("log", "-f", "--after", "0", "--for", "0s", "--json").json_lines
    assert len(events) > PAGE
    assert events == folder.covey("log", "--json", "--limit", "9999").json_lines
    filtered = folder.covey("log", "-f", "--after", "0", "--for", "0s", "--json", "--action", "message.sent")
    assert len(filtered.json_lines) == PAGE + 1


def test_a_process_that_watches_is_woken_by_each_event_and_not_by_the_clock(folder: Folder) -> None:
    with folder.start_woken_only("watch", "--json", "--after", "0") as watch:
        assert folder.covey("send", "0", "--from", "a", "--to", "b", "--register").code == DONE
        while json.loads(watch.line())["action"] != "message.sent":
            pass
        for n in range(5):
            assert folder.covey("send", str(n), "--from", "a", "--to", "b").code == DONE
            assert json.loads(watch.line())["content"]["text"] == str(n)


def test_a_session_whose_process_is_killed_is_seen_to_leave(folder: Folder) -> None:
    with folder.start("watch", "--after", "0") as watch, folder.start("watch", "--json") as other:
        assert folder.covey("join", "coder", "--pid", str(other.process.pid)).code == DONE
        while "joined      coder" not in watch.line():
            pass
        other.process.kill()
        assert other.end().code == -signal.SIGKILL
        # Watching changes nothing: the next program that does something writes the death down.
        assert folder.covey("send", "hi", "--from", "lead", "--to", "coder", "--register").code == DONE
        while not watch.line().endswith("left        coder: agent:coder:main, its process is gone"):
            pass


@pytest.mark.parametrize("words", [["watch"], ["log", "-f"]])
def test_an_interrupt_ends_it_cleanly(folder: Folder, words: list[str]) -> None:
    with folder.start(*words) as command:
        assert command.line("err").endswith("Ctrl-C ends it.")
        assert folder.covey("send", "hi", "--from", "a", "--to", "b", "--register").code == DONE
        while "hi" not in command.line():
            pass
        command.process.send_signal(signal.SIGINT)
        said = command.end()
    assert (said.code, said.err) == (INTERRUPTED, "covey: interrupted\n")
    assert "Traceback" not in said.out


@pytest.mark.parametrize("words", [["watch"], ["log", "-f"]])
def test_it_ends_when_nobody_reads_it_any_more(folder: Folder, words: list[str]) -> None:
    with folder.start(*words) as command:
        assert command.line("err").endswith("Ctrl-C ends it.")
        command.close_stdout()
        assert command.end() == Said(DONE, "", "")


def test_the_limit_counts_what_is_shown(folder: Folder) -> None:
    assert folder.covey("send", "hello", "--from", "b", "--to", "b", "--register").code == DONE
    with folder.start("watch", "b", "--limit", "2") as command:
        assert command.line("err").endswith("Ctrl-C ends it.")
        for n in range(3):
            assert folder.covey("send", f"number {n}", "--from", "a", "--to", "c", "--register").code == DONE
            assert folder.covey("send", f"number {n}", "--from", "a", "--to", "b").code == DONE
        said = command.end()
    assert said.code == DONE
    assert [line.rpartition(" ")[2] for line in said.out.splitlines()] == ["0", "1"]
