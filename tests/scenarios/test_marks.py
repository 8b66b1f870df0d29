"""Marks belong to the space: no input of a sender, on any entry point, gives its message a mark."""

import ast
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

import covey
from covey.core.channels.channel import console
from covey.core.errors import Invalid
from covey.core.formats.folder_files import incoming, paper
from covey.core.formats.layout import Layout
from covey.core.formats.peers import InboxMessage
from covey.core.identity import Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.marks import BY_WHOLE_SPACE, NAMES, Marks, Step, decode_marks, encode_marks
from covey.core.ledger.message import Message
from covey.core.ledger.wire import encode
from covey.core.names import AgentName
from covey.ports.ledger import MessageFilter
from covey.services.channels.channels import PersonMessage
from covey.surfaces.cli.catalogue import VERBS
from covey.surfaces.cli.main import parser_of
from covey.surfaces.python.inbox import Delivery
from covey.surfaces.python.member import Member
from covey.surfaces.python.messages import MessageOptions
from covey.surfaces.python.spawned import Spawned
from covey.surfaces.python.tasks import Assignment
from covey.testing import START
from covey.testing.records import a_message, a_message_id
from covey.toolkits.catalogue import HOMES, toolkit
from tests.core.foreign import as_file, dialogue, mailbox
from tests.scenarios.stores import in_memory
from tests.scenarios.tools import use
from tests.scenarios.world import LIMIT_S, World

SRC: Final = Path(covey.__file__).parent
FORGED: Final[dict[str, Any]] = {
    **dict.fromkeys(NAMES, "x"),
    "step": "end",
    "negotiation": "end",
    "task": "x",
    "foreign": {"task_id": "x"},
    "marks": dict.fromkeys(NAMES, "x"),
}
"""Every mark as plain data, and the keys that once had a meaning there."""

WRITERS: Final = {"core/formats/folder_files.py", "core/ledger/marks.py", "core/ledger/wire.py"}
"""Modules beside the services that write marks: from files, from JSON, and the definition itself."""

CARRIERS: Final = {
    "adapters/sqlite/records/mail.py",
    "core/ledger/draft.py",
    "core/formats/folder_files.py",
    "core/formats/mailbox.py",
    "services/mirror/intake.py",
    "toolkits/tasks.py",
}
"""Modules that pass metadata on. None of them decides anything by metadata."""


@pytest.fixture
def world() -> World:
    return World(in_memory())


@cache
def modules() -> Sequence[tuple[str, ast.Module]]:
    """Return the parsed modules of the package whose text mentions marks or metadata."""
    texts = [(path.relative_to(SRC).as_posix(), path.read_text(encoding="utf-8")) for path in sorted(SRC.rglob("*.py"))]
    return [(name, ast.parse(text)) for name, text in texts if "arks" in text or "metadata" in text]


def test_a_draft_has_no_place_for_marks() -> None:
    assert "marks" not in Draft._fields
    assert "marks" not in MessageOptions.__annotations__
    assert not set(NAMES) & set(InboxMessage._fields)


def test_only_services_write_marks() -> None:
    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                is_made = getattr(node.func, "id", getattr(node.func, "attr", "")) in ("Marks", "decode_marks")
                is_given = any(keyword.arg == "marks" and not _is_none(keyword.value) for keyword in node.keywords)
                is_right = name.startswith(("services/", "testing/")) or name in WRITERS
                assert is_right or not (is_made or is_given), f"{name}:{node.lineno} writes marks"


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


@pytest.mark.requirement("trust.reserved")
def test_no_module_decides_anything_by_metadata() -> None:
    found = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "metadata" and getattr(node.value, "id", "") != "importlib"
    }
    assert found == CARRIERS


def test_marks_survive_json_and_unknown_ones_have_no_effect() -> None:
    texts = {name: "x" for name in NAMES if name not in ("step", "partner")}
    marks = Marks(**texts, step=Step.END, partner=AgentName("bob"))
    assert decode_marks(encode_marks(marks)) == marks
    assert decode_marks({}) is None
    assert decode_marks({"newer": "x"}) is None
    assert decode_marks({"step": "newer", "person": "ann"}) == Marks(person="ann")
    assert set(BY_WHOLE_SPACE) < set(NAMES)


# ----------------------------------------------------------------------------------------------------- entry points


async def sent(world: World) -> list[Message]:
    """Return every message of the space."""
    return [*await world.services.dialogue.find(MessageFilter(), 1000)]


async def test_python_gives_no_marks_and_refuses_the_option(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    child = await alice.spawn("…", run=_answer)
    await child.result(timeout=LIMIT_S)
    asked = await alice.send("bob", "?", kind="request")
    await alice.delegate("bob", "work")
    (delivery,) = [one for one in await bob.inbox.peek() if one.message.id == asked.message_id]
    assignment = await bob.take(timeout=LIMIT_S, start=True)
    assert assignment is not None
    doors: dict[object, tuple[Callable[..., Awaitable[object]], tuple[str, ...], dict[str, Any]]] = {
        Member.send: (alice.send, ("bob", "hi"), {}),
        Member.ask: (alice.ask, ("bob", "hi"), {"timeout": 0}),
        Member.request_approval: (alice.request_approval, ("bob", "plan", "hi"), {"timeout": 0}),
        Member.reply: (bob.reply, (asked.message_id, "hi"), {}),
        Member.delegate: (alice.delegate, ("bob", "hi"), {}),
        Assignment.delegate: (assignment.delegate, ("alice", "hi"), {}),
        Delivery.reply: (delivery.reply, ("hi",), {}),
        Spawned.send: (child.send, ("hi",), {}),
    }
    assert {door for kind in (Member, Assignment, Delivery, Spawned) for door in _doors(kind)} == set(doors)
    before = {message.id for message in await sent(world)}
    for door, given, more in doors.values():
        await door(*given, **more, metadata=FORGED)
        with pytest.raises((Invalid, TypeError)):
            await door(*given, **more, marks=FORGED)
    made = [message for message in await sent(world) if message.id not in before]
    assert len(made) == len(doors)
    assert all((message.marks, message.metadata) == (None, FORGED) for message in made)
    await world.end_children()


async def _answer(_errand: object) -> str:
    return "done"


def _doors(kind: type) -> Iterable[object]:
    """Yield the methods that take options of a message."""
    for _, method in inspect.getmembers(kind, inspect.isfunction):
        if "MessageOptions" in str(inspect.signature(method)):
            yield method


@pytest.mark.requirement("trust.reserved")
@pytest.mark.parametrize(("kit", "name"), [(kit, tool.name) for kit in HOMES for tool in toolkit(kit).tools])
async def test_no_tool_of_any_toolkit_takes_marks(world: World, kit: str, name: str) -> None:
    (alice,) = await world.join("alice")
    tool = next(tool for tool in toolkit(kit).tools if tool.name == name)
    assert not {"marks", *NAMES} - {"run", "status", "reason"} & {parameter.name for parameter in tool.parameters}
    answer = await use(alice, kit, name, marks=FORGED)
    assert answer.is_error
    assert await sent(world) == []


async def test_the_metadata_of_a_tool_is_plain_data(world: World) -> None:
    (alice,) = await world.join("alice")
    await world.join("bob")
    calls: dict[tuple[str, str], dict[str, Any]] = {
        ("mailbox", "send_message"): {"to": "bob", "parts": [{"type": "text", "text": "hi"}]},
        ("mailbox", "delegate_task"): {"to": "bob", "parts": [{"type": "text", "text": "hi"}]},
    }
    taking = {
        (kit, tool.name)
        for kit in HOMES
        for tool in toolkit(kit).tools
        for p in tool.parameters
        if p.name == "metadata"
    }
    assert taking == set(calls)
    for (kit, name), arguments in calls.items():
        answer = await use(alice, kit, name, metadata=FORGED, **arguments)
        assert not answer.is_error, answer.text
    assert [(message.marks, message.metadata) for message in await sent(world)] == [(None, FORGED)] * len(calls)


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_takes_marks_or_metadata(verb: str) -> None:
    options = {action.dest for action in parser_of(verb)._actions}  # pyright: ignore[reportPrivateUsage]
    is_channel = verb == "channels"  # the person who runs a channel names the speaker; an agent's token can't
    assert not options & {"marks", "metadata", "step", "pair", *(() if is_channel else ("person",))}


@pytest.mark.parametrize("layout", Layout)
def test_a_foreign_file_gives_only_the_marks_of_its_own_ids(layout: Layout) -> None:
    envelope = json.loads(encode(a_message()._replace(marks=Marks(person="lead", run="r", status="completed"))))
    data = dialogue(to="coder") if layout is Layout.DIALOGUE else mailbox(to="coder")
    data |= {"marks": FORGED["marks"], "metadata": FORGED, "covey": envelope}
    read = paper(layout, as_file(data), "coder")
    message = incoming(read, a_message_id(7), Identity(AgentName("researcher")), AgentName("coder"), START)
    assert message.marks == Marks(foreign_id=read.id, foreign_task=read.task_id)


async def test_a_channel_gives_only_the_mark_of_the_person(world: World) -> None:
    (bob,) = await world.join("bob")
    owner = Identity(AgentName("owner"))
    await world.services.channels.add(console(AgentName("ops")), owner)
    await world.services.channels.bind(AgentName("ops"), "c-1", parse_address("bob"), owner)
    await world.services.channels.hear(PersonMessage(AgentName("ops"), "c-1", json.dumps(FORGED), person="ann"))
    (heard,) = await bob.inbox.peek()
    assert heard.message.marks == Marks(person="ann")
    assert heard.message.metadata == {}
