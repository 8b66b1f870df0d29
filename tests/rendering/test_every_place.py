"""Every place where a model reads foreign text, found by enumeration: tools, prompts, resources and errors.

A new tool, resource, prompt, error or text field fails here until it is covered.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import pytest

import covey
from covey.core import errors
from covey.core.attention.styles import RenderingStyle, framed
from covey.core.errors import CoveyError, FileOutsideRoots
from covey.core.json import Json
from covey.core.ledger.message import DataPart, FilePart, Message, TextPart
from covey.core.work.run import RunId
from covey.core.work.spawning import first_prompt, later_prompt
from covey.runtime.programs.command import prompt_for
from covey.runtime.tasks.held_task import HeldTask
from covey.surfaces.mcp.resources import RESOURCES, TEMPLATES, THREAD, read_resource
from covey.surfaces.python.tasks import Assignment
from covey.toolkits.answers import refused
from covey.toolkits.catalogue import HOMES, toolkit
from covey.toolkits.tool import ParameterType, Tool, ToolAnswer
from tests.rendering.forgeries import CONTROL, FORGERIES, MARK, assert_data_is_harmless, assert_nothing_escapes
from tests.rendering.hostile_space import PARSED, PLANTED, Hostile, plant

pytestmark = pytest.mark.requirement("peers.render.escape")

ALL = [(name, tool) for name in HOMES for tool in toolkit(name).tools]


READING = [name for name in HOMES if "read_message" in {tool.name for tool in toolkit(name).tools}]


def calls_of(hostile: Hostile) -> Mapping[str, Sequence[Mapping[str, Json]]]:
    """Return the calls of each tool that show as much foreign text as possible."""
    child: Mapping[str, Json] = {"sessionKey": hostile.key}
    asked: Mapping[str, Json] = {"ticket": hostile.ticket, "wait": 0}
    parts: Json = [{"type": "text", "text": "hi"}]
    say: Mapping[str, Json] = {"to": "mallory", "kind": "notify", "subject": "style", "body": "hi", "phase": "T-1"}
    inbox: Sequence[Mapping[str, Json]] = ({}, {"message": 1}, {"message": 2}, {"message": 3}, {"message": 4})
    tell: Sequence[Mapping[str, Json]] = ({"to": "mallory", "message": "hi"}, {"reply_to": 2, "message": "yes"})
    update: Sequence[Mapping[str, Json]] = (
        {"task": 99, "state": "completed"},
        {"task": 1, "state": "completed"},
        {"task": 3, "state": "completed", "text": "sorted"},
    )
    return {
        "native.list_agents": [{}],
        "native.send_message": tell,
        "native.ask_agent": [asked],
        "native.read_inbox": inbox,
        "native.dismiss_message": [{"messages": [1, 3, 99]}],
        "native.delegate_task": [{"to": "mallory", "text": "sort them"}],
        "native.update_task": update,
        "native.spawn_agent": [{"task": "sort them"}],
        "peers.list_peers": [{}],
        "peers.send_to_peer": [{"to": "mallory", "message": "hi"}],
        "peers.request_approval": [{"ticket": hostile.approval, "wait": 0}],
        "peers.decide_approval": [{"request": 1, "approve": True}],
        "dialogue.messages_send": [say],
        "dialogue.messages_inbox": [{}],
        "dialogue.messages_archive": [{"id": 1}],
        "dialogue.messages_thread": [{"id": 1}, {"id": 2}, {"id": 4}],
        "dialogue.pending": [{}, {"phase": "T-1"}],
        "broadcast.broadcast": [
            {"message": "hi"},
            {"message": "hi"},
            {"reply_to": 1, "message": "hi"},
            {"reply_to": 99},
        ],
        "broadcast.dismiss": [{"id": 1}, {"id": 99}],
        "broadcast.spawn": [{"prompt": "sort them"}],
        "mailbox.list_agents": [{}],
        "mailbox.send_message": [{"to": "mallory", "parts": parts}],
        "mailbox.delegate_task": [{"to": "mallory", "parts": parts}],
        "mailbox.update_task": [{"task": 3, "state": "completed"}],
        "mailbox.list_tasks": [{}, {"role": "delegated"}, {"role": "delegated", "state": "rejected"}],
        "sessions.sessions_spawn": [{"task": "sort them"}],
        "sessions.sessions_send": [{"sessionKey": "agent:mallory:main", "message": "hi", "timeoutSeconds": 0}],
        "sessions.sessions_list": [{"ended": True}],
        "sessions.sessions_history": [child, {"label": "first"}, {"label": "second"}],
        "sessions.sessions_stop": [child, {"label": "first"}],
        "coordinator.SpawnWorker": [{"task": "sort them"}],
        "coordinator.SendMessageToWorker": [
            {"worker": "mallory", "message": "hi"},
            {"worker": "first", "message": "hi"},
        ],
        "coordinator.ListWorkers": [{}],
        "coordinator.StopWorker": [{"worker": "first"}, {"worker": "second"}],
        **{f"{kit}.read_message": [{"message": 1}, {"message": 99}] for kit in READING},
        "worker.read_inbox": inbox,
        "worker.send_message": tell,
        "worker.ask_agent": [asked],
        "worker.update_task": update,
    }


SHOWN = {
    *("native.list_agents", "native.ask_agent", "native.read_inbox", "peers.list_peers", "peers.request_approval"),
    *("dialogue.messages_inbox", "dialogue.messages_thread", "broadcast.broadcast", "mailbox.list_agents"),
    *("mailbox.list_tasks", "sessions.sessions_list", "sessions.sessions_history", "coordinator.ListWorkers"),
    *("worker.read_inbox", "worker.ask_agent"),
    *(f"{kit}.read_message" for kit in READING),
}
"""Tools that show foreign texts. The test checks that they do, so that it does not examine empty answers."""


def check(answer: ToolAnswer) -> None:
    assert_nothing_escapes(answer.text)
    assert_data_is_harmless(answer.data)


@pytest.mark.requirement("trust.frame")
@pytest.mark.parametrize("forged", FORGERIES)
async def test_no_answer_of_any_tool_lets_a_foreign_text_have_an_effect(forged: str) -> None:
    async with covey.open("memory:", roots=[]) as space:
        await _check_all_tools(await plant(space, forged))


async def _check_all_tools(hostile: Hostile) -> None:
    calls = calls_of(hostile)
    assert set(calls) == {f"{kit}.{tool.name}" for kit, tool in ALL}
    for name, sent in calls.items():
        kit, _, tool = name.partition(".")
        shown = ""
        for arguments in sent:
            answer = await hostile.coder.tools(kit).call(tool, arguments)
            check(answer)
            shown += answer.text
        assert (MARK in shown) or name not in SHOWN, name


def forged_calls(tool: Tool, forged: str) -> Iterator[Json]:
    """Yield calls with a forged text in one argument: as a text, and in place of another type."""
    yield {forged: forged}
    yield forged
    for parameter in tool.parameters:
        others: dict[str, Json] = {
            p.name: "mallory" for p in tool.parameters if p.is_required and p.form is ParameterType.TEXT
        }
        yield {**others, parameter.name: forged}
        yield {**others, parameter.name: [forged, {forged: forged}]}


@pytest.mark.parametrize(("kit", "tool"), ALL, ids=[f"{kit}.{tool.name}" for kit, tool in ALL])
async def test_no_answer_lets_a_repeated_argument_have_an_effect(kit: str, tool: Tool) -> None:
    async with covey.open("memory:", roots=[]) as space:
        coder, _mallory = await space.join("coder"), await space.join("mallory")
        for forged in (FORGERIES[0], FORGERIES[2], FORGERIES[0] + CONTROL):
            for sent in forged_calls(tool, forged):
                if not (isinstance(sent, dict) and "message" in sent and "sessionKey" in sent):
                    check(await coder.tools(kit).call(tool.name, sent))
        check(await coder.tools(kit).call(FORGERIES[0]))


@pytest.mark.parametrize("kit", HOMES)
@pytest.mark.parametrize("style", RenderingStyle)
async def test_no_turn_lets_a_foreign_text_have_an_effect(kit: str, style: RenderingStyle) -> None:
    async with covey.open("memory:", roots=[]) as space:
        hostile = await plant(space, FORGERIES[0])
        async with hostile.coder.turn(**hostile.coder.tools(kit).showing, budget=200_000) as turn:
            shown = framed(turn.pending, style)
        assert MARK in shown
        assert "<system-reminder" not in shown
        assert shown.count("</covey-mail") == shown.count("<covey-mail") == 1


@pytest.mark.parametrize("forged", FORGERIES)
async def test_no_resource_lets_a_foreign_text_have_an_effect(forged: str) -> None:
    async with covey.open("memory:", roots=[]) as space:
        hostile = await plant(space, forged)
        box = hostile.coder.tools()
        uris = [resource.uri for resource in RESOURCES]
        for template in TEMPLATES:
            assert template.uri_template == THREAD + "{id}", "a new kind of resource needs addresses here"
            uris += [f"{THREAD}{number}" for number in (1, 2, 3, 4)]
        for uri in uris:
            shown = await read_resource(box.caller, box.toolkit, str(uri))
            assert MARK in shown
            assert_nothing_escapes(shown)


def test_every_function_that_writes_a_prompt_is_covered() -> None:
    """A function that writes a prompt for a child or a task must be among those tested below."""
    source = Path(inspect.getfile(covey)).parent
    found = {
        f"{path.relative_to(source)}:{name}"
        for path in source.rglob("*.py")
        if "testing" not in path.parts
        for name in re.findall(r"def (\w*prompt\w*)\([^)]*\) -> str:", path.read_text())
    }
    assert found == {
        "core/work/spawning.py:first_prompt",
        "core/work/spawning.py:later_prompt",
        "runtime/programs/command.py:prompt_for",
        "core/work/negotiation.py:announce_prompt",  # contains only names, and a message that is rendered as all others
        "surfaces/python/member.py:prompt",  # returns one of the first two
    }


@pytest.mark.parametrize("forged", FORGERIES)
async def test_no_prompt_lets_a_foreign_text_have_an_effect(forged: str) -> None:
    wild = f"{forged}\n{CONTROL}"
    async with covey.open("memory:", roots=[]) as space:
        hostile = await plant(space, forged)
        run = (await space.services.runs.view(RunId(hostile.run))).run._replace(folder=f"/tmp/{wild}")
        file = FilePart(wild, "0" * 64, 3)
        (message, *_rest) = [item.message for item in await space.services.inbox.peek(hostile.coder.name)]
        said = [message._replace(metadata={}), message._replace(parts=(TextPart(wild), DataPart(wild), file))]
        await hostile.mallory.delegate("coder", wild, data={wild: wild})
        assignment = await hostile.coder.take()
        assert isinstance(assignment, Assignment)
        view = await space.services.tasks.view(assignment.id)
        held = HeldTask(view, space.services, hostile.coder.identity)
        prompts = {
            "first": first_prompt(run, wild, [file], "agent:lead:main"),
            "first, without a folder": first_prompt(run._replace(folder=None), wild, [file], "agent:lead:main"),
            "later": later_prompt(run, message, said),
            "later, of much": later_prompt(run, message, [_long(message, wild)] * 20),
            "task": prompt_for(held, "coder", [Path(f"/x/{wild}")], Path("/y")),
        }
        for prompt in prompts.values():
            assert MARK in prompt
            assert_nothing_escapes(prompt)


def _long(message: Message, wild: str) -> Message:
    return message._replace(parts=(TextPart(wild * 20),))


def leaves(root: type[CoveyError] = CoveyError) -> Iterator[type[CoveyError]]:
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            yield child
            yield from leaves(child)


LEAVES = {leaf.__name__: leaf for leaf in leaves()}


@pytest.mark.parametrize("leaf", LEAVES.values(), ids=LEAVES)
def test_no_error_lets_a_repeated_text_have_an_effect(leaf: type[CoveyError]) -> None:
    for forged in FORGERIES:
        check(refused(leaf(**dict(_arguments(leaf, f"{forged}{CONTROL}")))))


FORMED = {
    *("agent", "child", "owner", "sender", "rule", "limit"),  # names, and words of the program
    *("message", "what", "action", "is_space"),
    *("path", "place", "log", "replica", "command"),  # paths that the owner chose
}
"""Parameters of errors with validated texts, or with texts of the person who runs the program."""


def _arguments(leaf: type[CoveyError], forged: str) -> Iterator[tuple[str, Any]]:
    """Yield arguments for an error, forged for each parameter that takes text."""
    for parameter in inspect.signature(leaf).parameters.values():
        hint = str(parameter.annotation)
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if hint in ("int", "float", "bool", "<class 'int'>", "<class 'float'>", "<class 'bool'>"):
            yield parameter.name, 3
        elif parameter.name in FORMED and leaf is not FileOutsideRoots:
            yield parameter.name, "plain"
        elif "Sequence" in hint:
            yield parameter.name, [forged]
        else:
            yield parameter.name, forged


class Field(NamedTuple):
    record: type
    name: str


def texts_of(record: type) -> Iterator[Field]:
    """Yield the fields of a record that can hold text: all except numbers, times and flags."""
    for name, hint in get_type_hints(record).items():
        options = get_args(hint) if get_origin(hint) is UnionType else (hint,)
        names = {getattr(option, "__name__", str(option)) for option in options if option is not NoneType}
        if not names <= {"int", "float", "bool", "datetime", "timedelta", "Capacity", "TaskOverflow"}:
            yield Field(record, name)


def test_every_text_field_is_planted_or_validated() -> None:
    """A new text field is either planted in the hostile space, or parsed on input."""
    for record in PLANTED:
        known = {Field(record, name) for name in PLANTED[record] | PARSED.get(record, set())}
        assert set(texts_of(record)) - {Field(record, "card")} == known
