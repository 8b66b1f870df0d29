"""`covey inbox`, `thread`, `search`, `agents`, `owed` and `receipt`: reads, which change nothing."""

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import covey as api
from covey.surfaces.cli.exits import DONE, NOT_FOUND, UNAVAILABLE, USAGE
from covey.surfaces.cli.terminal.layout import DEEPEST, branches
from covey.testing.records import a_message, a_message_id
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey

ID = re.compile(r"[0-9]{13}-[0-9a-f-]{36}")


def send(covey: Covey, text: str, sender: str, to: str, *words: str) -> str:
    said = covey("send", text, "--from", sender, "--to", to, "--register", "--json", *words)
    assert said.code == DONE
    return said.json["id"]


def dialogue(covey: Covey) -> Sequence[str]:
    """Send messages between a lead, a critic and a coder in two scopes; return their ids."""
    return [
        send(covey, "the parser is flaky", "critic", "coder", "--request", "--scope", "T-1", "--subject", "parser"),
        send(covey, "mind the tabs", "lead", "coder", "--scope", "T-1"),
        send(covey, "a flaky test", "lead", "coder", "--request", "--scope", "T-2", "--subject", "test"),
        send(covey, "lunch?", "lead", "coder"),
    ]


def texts(covey: Covey, *words: str) -> Sequence[str]:
    said = covey(*words, "--json")
    assert said.code == DONE, said
    return [item["text"] for item in said.json]


@pytest.mark.requirement("dialogue.inbox.filter")
def test_an_inbox_is_narrowed_by_scope_kind_time_and_state(covey: Covey) -> None:
    dialogue(covey)
    flaky, tabs, test, lunch = "the parser is flaky", "mind the tabs", "a flaky test", "lunch?"
    assert texts(covey, "inbox", "coder") == [flaky, tabs, test, lunch]
    assert texts(covey, "inbox", "coder", "--scope", "T-1") == [flaky, tabs]
    assert texts(covey, "inbox", "coder", "--kind", "request") == [flaky, test]
    assert texts(covey, "inbox", "coder", "--scope", "T-1", "--kind", "notify") == [tabs]
    assert texts(covey, "inbox", "coder", "--since", "1h") == [flaky, tabs, test, lunch]
    assert texts(covey, "inbox", "coder", "--until", "1h") == []
    times = [item["created_at"] for item in covey("inbox", "coder", "--json").json]
    assert texts(covey, "inbox", "coder", "--since", times[0], "--until", times[3]) == [tabs, test]
    assert texts(covey, "inbox", "coder", "--state", "queued") == [flaky, tabs, test, lunch]
    assert texts(covey, "inbox", "coder", "--state", "offered") == []
    assert texts(covey, "inbox", "coder", "--limit", "2") == [flaky, tabs]
    assert covey("inbox", "coder", "--limit", "2").err == "The first 2; --limit shows more.\n"
    assert covey("inbox", "coder", "--scope", "T-3").out == "Nothing of that waits for coder.\n"


def test_an_inbox_that_is_piped_has_one_line_for_each_message(covey: Covey) -> None:
    send(covey, "zwei\nZeilen 語 \x1b[2J", "critic", "coder", "--request", "--scope", "T-1", "--round", "2")
    send(covey, "ok", "lead", "coder")
    head, first, second = covey("inbox", "coder").out.splitlines()
    assert head.split() == ["#", "age", "from", "kind", "state", "about", "text"]
    assert first.endswith("zwei Zeilen 語 �[2J")
    assert "critic (claimed)" in first
    assert "T-1#2" in first
    assert first.index("zwei") == second.index("ok") == head.index("text")


def test_the_acting_agent_selects_the_inbox(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    dialogue(covey)
    assert len(covey("inbox", "--agent", "coder", "--json").json) == 4
    monkeypatch.setenv("COVEY_AGENT", "coder")
    assert len(covey("inbox", "--json").json) == 4
    assert texts(covey, "thread", "2") == ["mind the tabs"]


def test_a_session_selects_the_inbox_of_its_agent(covey: Covey, monkeypatch: pytest.MonkeyPatch) -> None:
    dialogue(covey)
    joined = covey("join", "coder", "--lease", "1h", "--json").json
    monkeypatch.setenv("COVEY_SESSION", f"{joined['session']}:{joined['secret']}")
    assert len(covey("inbox", "--json").json) == 4
    assert texts(covey, "thread", "4") == ["lunch?"]


def test_reading_verbs_change_nothing(covey: Covey) -> None:
    first, *_ = dialogue(covey)
    before = covey("log", "--json").out
    for words in (
        ("inbox", "coder"),
        ("thread", first),
        ("search", "flaky"),
        ("agents",),
        ("agents", "coder"),
        ("owed", "coder"),
        ("owed", "--scope", "T-1"),
        ("receipt", first),
        ("gate", "T-9"),
    ):
        assert covey(*words).code == DONE
        assert covey(*words, "--json").code == DONE
    assert covey("log", "--json").out == before


def test_a_thread_is_a_tree_with_each_reply_below_the_message_it_answers(covey: Covey) -> None:
    first = send(covey, "why?", "critic", "coder", "--request")
    answer = covey("reply", "1", "because", "--from", "coder", "--json").json["id"]
    second = send(covey, "also: how?", "critic", "coder", "--reply-to", first)
    send(covey, "I see", "critic", "coder", "--reply-to", answer)
    lines = [ID.sub("ID", line) for line in covey("thread", second).out.splitlines()]
    assert lines == [
        "request critic (claimed) → coder: why?  [ID]",
        "├─ response coder (claimed) → critic: because  [ID]",
        "│  └─ notify critic (claimed) → coder: I see  [ID]",
        "└─ notify critic (claimed) → coder: also: how?  [ID]",
    ]
    assert texts(covey, "thread", answer) == ["why?", "because", "also: how?", "I see"], "causes before effects"


def test_the_indentation_of_a_long_thread_is_bounded() -> None:
    chain = [a_message(1)]
    for n in range(2, 2000):
        chain.append(a_message(n, thread=chain[0].id)._replace(in_reply_to=a_message_id(n - 1)))
    laid_out = list(branches(chain))
    assert [branch.item.id for branch in laid_out] == [message.id for message in chain]
    assert max(len(branch.lead) for branch in laid_out) == 3 * (DEEPEST + 1)


def test_a_reply_to_a_missing_message_is_a_root() -> None:
    orphan = a_message(2)._replace(in_reply_to=a_message_id(1))
    (branch,) = branches([orphan])
    assert (branch.item, branch.lead) == (orphan, "")


def test_messages_are_found_by_words_and_filters(covey: Covey) -> None:
    dialogue(covey)
    assert set(texts(covey, "search", "flaky")) == {"the parser is flaky", "a flaky test"}
    assert texts(covey, "search", "FLAKY", "parser!") == ["the parser is flaky"]
    assert texts(covey, "search", "flaky", "--from", "lead") == ["a flaky test"]
    assert texts(covey, "search", "flaky", "--scope", "T-1") == ["the parser is flaky"]
    assert texts(covey, "search", "flaky", "--kind", "notify") == []
    assert texts(covey, "search", "flaky", "--since", "2999-01-01T00:00:00Z") == []
    assert len(texts(covey, "search", "flaky", "--limit", "1")) == 1
    assert covey("search", "flaky", "--from", "lead", "--json").json[0]["snippet"] == "a «flaky» test"
    head, line = covey("search", "lunch").out.splitlines()
    assert head.split() == ["message", "age", "from", "about", "text"]
    assert line.endswith("«lunch»?")
    assert covey("search", "nowhere").out == "No message has these words.\n"
    assert covey("search", "-- '\" OR").out == "No message has these words.\n"


def test_agents_are_listed_live_ones_first(covey: Covey) -> None:
    assert covey("agents").out == "Nobody is known here. `covey join NAME` begins.\n"
    dialogue(covey)
    joined = covey("join", "lead", "--lease", "1h", "--label", "desk", "--description", "plans", "--json").json
    assert [(a["agent"], a["presence"]) for a in covey("agents", "--json").json] == [
        ("lead", "idle"),
        ("coder", "offline"),
        ("critic", "offline"),
    ]
    assert [a["agent"] for a in covey("agents", "--live", "--json").json] == ["lead"]
    assert covey("agents", "--names").out == "coder\ncritic\nlead\n"
    assert covey("agents", "--names", "--json").json == ["coder", "critic", "lead"]
    shown = covey("agents", "lead").out
    assert joined["session"] in shown
    assert joined["key"] in shown
    assert "plans" in shown
    assert covey("agents", "led").code == NOT_FOUND


def test_listing_names_creates_no_store(covey: Covey, tmp_path: Path) -> None:
    said = covey("agents", "--names", "--store", f"sqlite:{tmp_path}/nowhere/covey.db")
    assert (said.code, said.out) == (UNAVAILABLE, "")
    assert not (tmp_path / "nowhere").exists()


def test_debts_are_listed_by_debtor_by_asker_and_by_scope(covey: Covey) -> None:
    flaky, _, test, _ = dialogue(covey)
    assert covey("reply", "1", "fixed", "--as", "coder", "--keep-open").code == DONE

    def owed(*words: str) -> Sequence[tuple[str, str]]:
        return [(debt["message"], debt["state"]) for debt in covey("owed", *words, "--json").json]

    assert owed("coder") == [(flaky, "answered"), (test, "open")]
    assert owed("--to", "critic") == [(flaky, "answered")]
    assert owed("lead", "--to") == [(test, "open")]
    assert owed("--scope", "T-2") == [(test, "open")]
    assert owed("coder", "--scope", "T-1") == [(flaky, "answered")]
    assert owed("critic") == []
    assert "answered, not archived" in covey("owed", "coder").out
    assert covey("owed", "critic").out == "Nothing is owed by critic.\n"
    assert covey("owed", "--to", "coder").out == "Nothing is owed to coder.\n"
    assert covey("owed", "--scope", "T-9").out == "Nothing is owed in T-9.\n"
    assert covey("owed", "coder", "--scope", "T-9").out == "Nothing is owed by coder in T-9.\n"
    assert covey("owed", "codr").code == NOT_FOUND


def test_a_receipt_shows_each_delivery_with_its_events_and_evidence(covey: Covey, tmp_path: Path) -> None:
    asked = send(covey, "why?", "critic", "coder", "--request", "--scope", "T-1")
    other = send(covey, "by the way", "critic", "coder")

    async def read() -> None:
        async with api.open(f"sqlite:{tmp_path}/.covey/covey.db") as space:
            member = await space.join("coder")
            showing = await member.offer("turn 7")
            assert showing is not None
            await member.confirm(showing.offer.id, "witnessed", "the provider answered turn 7")
            await member.reply(asked, "because", close=False)

    asyncio.run(read())
    ledger = covey("receipt", asked, "--json").json
    assert (ledger["id"], ledger["message"]["text"]) == (asked, "why?")
    assert [(d["state"], d["evidence"], d["reason"]) for d in ledger["deliveries"]] == [
        ("handled", "witnessed", "answered")
    ]
    assert [(t["debtor"], t["state"]) for t in ledger["tickets"]] == [("coder", "answered")]
    evidence = [event["details"] for event in ledger["events"] if event["action"] == "evidence"]
    assert [(e["grade"], e["basis"]) for e in evidence] == [("witnessed", "the provider answered turn 7")]
    offers = [event["details"]["turn"] for event in ledger["events"] if event["action"] == "offer.made"]
    assert offers == ["turn 7"]
    positions = [event["position"] for event in ledger["events"]]
    assert positions == sorted(positions)
    said = covey("receipt", asked).out
    assert "witnessed: the provider answered turn 7" in said
    assert said.index("offered") < said.index("in_context") < said.index("coder's answer to critic")
    assert covey("receipt", other, "--json").json["deliveries"][0]["evidence"] == "witnessed"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["inbox", "coder", "--state", "handled"], USAGE),
        (["inbox", "coder", "--since", "yesterday"], USAGE),
        (["inbox", "coder", "--until", "2026-01-01"], USAGE),
        (["inbox", "coder", "--limit", "0"], USAGE),
        (["inbox", "coder", "--limit", "many"], USAGE),
        (["inbox", "codr"], NOT_FOUND),
        (["thread", "9", "--agent", "coder"], NOT_FOUND),
        (["thread", "nope"], USAGE),
        (["search"], USAGE),
        (["search", "x", "--from", "not a name"], USAGE),
        (["search", "x", "--limit", "-1"], USAGE),
        (["owed", "coder", "--all-agents"], USAGE),
        (["inbox", "coder", "--all-agents"], USAGE),
        (["inbox", "--wait", "coder"], USAGE),
        (["receipt", "3"], USAGE),
        (["receipt", "9", "--agent", "coder"], NOT_FOUND),
        (["agents", "nobody"], NOT_FOUND),
    ],
)
def test_a_wrong_query_is_refused(covey: Covey, words: Sequence[str], code: int) -> None:
    dialogue(covey)
    said = covey(*words)
    assert (said.code, said.out) == (code, "")
    assert said.err.count("\n") == 1
    as_json = covey(*words, "--json")
    assert (as_json.code, as_json.err, list(as_json.json)) == (code, "", ["error"])


def test_the_reading_verbs_work_as_processes(folder: Folder) -> None:
    first, *_ = dialogue(folder.covey)
    for words in (
        ["inbox", "coder", "--scope", "T-1"],
        ["thread", first],
        ["thread", "1", "--agent", "coder"],
        ["search", "flaky"],
        ["agents"],
        ["owed", "coder"],
        ["receipt", first],
    ):
        plain, as_json = folder.covey(*words), folder.covey(*words, "--json")
        assert (plain.code, as_json.code, plain.err, as_json.err) == (DONE, DONE, "", ""), words
        assert plain.out
        assert json.loads(as_json.out)
    assert folder.covey("inbox", "codr").code == NOT_FOUND
    head = folder.run(["sh", "-c", "covey log | head -1; covey log --json | true; echo $?"])
    assert (head.code, head.err) == (DONE, ""), "a reader that leaves early is no error"


async def test_a_receipt_says_how_many_characters_of_a_message_were_shown(covey: Covey, tmp_path: Path) -> None:
    async with api.open(f"sqlite:{tmp_path}/.covey/covey.db") as space:
        lead, coder = await space.join("lead"), await space.join("coder")
        receipt = await lead.send("coder", "x" * 52_903)
        async with coder.turn(budget=4_000) as turn:
            turn.text("compact")
            turn.responded("r-1")
        assert "of 52,903 characters" in repr(await receipt.refresh())
        (copy,) = covey("receipt", receipt.message_id, "--json").json["deliveries"]
        said = covey("receipt", receipt.message_id)
    assert 0 < copy["shown"] < copy["length"] == 52_903
    assert copy["state"] not in ("in_context", "handled")
    assert f"{copy['shown']:,} of 52,903 characters" in said.out
