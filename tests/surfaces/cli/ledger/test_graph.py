"""`covey graph`: the messages between agents, a thread and a tree of tasks, drawn and as text for other programs."""

import re

import pytest

from covey.surfaces.cli.exits import DONE, NOT_FOUND, USAGE
from covey.surfaces.cli.views.diagrams import Diagram, DiagramEdge, DiagramNode, dot, mermaid
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey
from tests.surfaces.terminal import Terminal

pytestmark = pytest.mark.requirement("first.graph")

HOSTILE = 'say "]; end\n| x --> y #quot; `b` \\" <script> & style a:#f00; \x1b[2J %% {{}}'


def ask(covey: Covey, text: str = "Why two retries?") -> str:
    sent = covey("send", text, "--from", "lead", "--to", "coder", "--register", "--request")
    assert sent.code == DONE
    return sent.out.splitlines()[0]


def test_the_messages_between_agents_are_drawn_with_their_counts(covey: Covey) -> None:
    question = ask(covey)
    ask(covey, "And now?")
    assert covey("reply", question, "One is for the proxy.", "--from", "coder").code == DONE
    said = covey("graph")
    assert said.code == DONE
    assert re.sub(r"last \d+s ago", "last 0s ago", said.out).splitlines() == [
        "coder",
        "└─ → lead  1 message, last 0s ago",
        "lead",
        "└─ → coder  2 messages, questions: 1 open, 1 answered, last 0s ago",
    ]
    edges = covey("graph", "--json").json["edges"]
    assert [(e["from"], e["to"], e["messages"], e["open"], e["answered"]) for e in edges] == [
        ("coder", "lead", 1, 0, 0),
        ("lead", "coder", 2, 1, 1),
    ]


def test_a_message_is_drawn_as_its_thread(covey: Covey) -> None:
    question = ask(covey)
    assert covey("reply", question, "One is for the proxy.", "--from", "coder").code == DONE
    for name in (question, "coder:1", "lead:1"):
        shown = re.sub(r", \d+s ago", "", covey("graph", name).out)
        assert shown.splitlines() == [
            "lead → coder  request, answered  Why two retries?",
            "└─ coder → lead  response  One is for the proxy.",
        ]
    first, second = covey("graph", question, "--json").json["thread"]
    assert (first["id"], second["in_reply_to"]) == (question, question)
    assert first["questions"] == [{"debtor": "coder", "state": "closed", "answer": second["id"]}]


def test_a_task_is_drawn_as_its_tree_of_delegations(covey: Covey) -> None:
    words = ("--register", "--no-wait", "--json")
    whole = covey("delegate", "Build it.", "--from", "lead", "--to", "coder", *words).json["id"]
    assert covey("accept", whole, "--agent", "coder").code == DONE
    part = covey("delegate", "Test it.", "--from", "coder", "--to", "tester", "--for", whole, *words)
    assert part.code == DONE, part
    for name in (whole, "tester:1"):
        assert covey("graph", name).out.splitlines() == [
            "lead → coder  accepted  coder:1  Build it.",
            "└─ coder → tester  pending  tester:1  Test it.",
        ]
    assert covey("graph", whole, "--mermaid").out.splitlines() == [
        "flowchart TD",
        '    n1["lead → coder (accepted)#58; Build it."]',
        '    n2["coder → tester (pending)#58; Test it."]',
        "    n1 --> n2",
    ]
    tree = covey("graph", whole, "--json").json["task"]
    assert [child["agent"] for child in tree["children"]] == ["tester"]


def test_an_empty_space_and_an_empty_time_say_so(covey: Covey) -> None:
    nothing = "No agent has sent a message to another agent in this time.\n"
    assert covey("graph").out == nothing
    ask(covey)
    assert covey("graph", "--since", "2200-01-01T00:00:00Z").out == nothing
    assert covey("graph", "--since", "1h").out != nothing


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["nobody:1"], NOT_FOUND, "nobody"),
        (["coder:9"], NOT_FOUND, "9"),
        (["x"], USAGE, "message id"),
        (["coder:1", "--since", "1h"], USAGE, "drawn as a whole"),
        (["--since", "soon"], USAGE, "ISO 8601"),
        (["--dot", "--mermaid"], USAGE, "not allowed with"),
    ],
)
def test_a_wrong_graph_says_why(covey: Covey, words: list[str], code: int, says: str) -> None:
    ask(covey)
    said = covey("graph", *words)
    assert (said.code, said.out) == (code, "")
    assert says in said.err


@pytest.mark.requirement("trust.frame")
def test_no_text_of_a_message_leaves_its_label(covey: Covey) -> None:
    question = ask(covey, HOSTILE)
    for line in covey("graph", question, "--mermaid").out.splitlines()[1:]:
        assert re.fullmatch(r"    n\d+\[\"(?:[\w ,.?!/'()→-]|#\d+;)*\"\]", line), line
    lines = covey("graph", question, "--dot").out.splitlines()
    assert lines[0] == "digraph covey {"
    assert lines[-1] == "}"
    (node,) = [line for line in lines if "label=" in line]
    assert re.fullmatch(r'    n1 \[label="(?:[^"\\&]|\\["\\]|&amp;)*"\];', node), node
    assert "\x1b" not in covey("graph", question).out + node


def test_keys_that_are_words_of_the_language_do_not_become_identifiers() -> None:
    diagram = Diagram([DiagramNode("end", "1. end"), DiagramNode("graph", "- graph")], [DiagramEdge("end", "graph")])
    assert list(mermaid(diagram)) == [
        "flowchart TD",
        '    n1["1#46; end"]',
        '    n2["#45; graph"]',
        "    n1 --> n2",
    ]
    assert "    n1 -> n2;" in dot(diagram)


def test_a_drawing_fits_a_narrow_terminal(folder: Folder) -> None:
    words = ("send", "a long text " * 20, "--from", "lead", "--to", "coder", "--register", "--request")
    assert folder.covey(*words).code == DONE
    for command in (["graph"], ["graph", "coder:1"], ["log"]):
        with Terminal(command, folder.path, {**folder.environment, "COLUMNS": "50", "NO_COLOR": "1"}) as terminal:
            terminal.ends_with(DONE)
        assert "coder" in terminal.shown
        assert max(map(len, terminal.lines)) <= 50
