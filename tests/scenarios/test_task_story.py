"""The story of tasks with real processes: a person asks one agent, its model delegates the work, and the result returns
to the conversation where it was asked for. Models know only their tools and the messages that they are shown."""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

import covey
from covey.core.channels.channel import console
from covey.core.channels.post import OWN
from covey.core.directory.card import Card
from covey.core.formats.mailbox import mailbox_document
from covey.core.identity import parse_address
from covey.core.json import Json
from covey.core.ledger.message import Callback, Kind
from covey.core.names import AgentName
from covey.core.work.task import TaskState
from covey.ports.work import TaskFilter
from covey.surfaces.python.space import Space
from covey.testing.models import EntryKind, Line, ModelRequest, ScriptedModel, ToolCall
from tests.scenarios.playing import Start, go, told
from tests.surfaces.commands import Folder, Started

FEISHU: Final = AgentName("feishu")
USER: Final = "feishu:user_123"
WISH: Final = "帮我写排序函数"
PROMISE: Final = "我让 coder 去处理,完成后通知你"
RESULT: Final = "排序函数已完成: sort_by_mtime()"

Model = Callable[[ModelRequest], Line]


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Return the URL of a space that CLI commands in the folder use too."""
    (tmp_path / ".covey").mkdir()
    return f"sqlite:{tmp_path}/.covey/covey.db"


@asynccontextmanager
async def space_with_users(url: str) -> AsyncGenerator[Space]:
    """Open a space with a channel whose users talk to the researcher."""
    async with covey.open(url) as space:
        channels, owner = space.services.channels, space.services.identities.claim(AgentName("owner"))
        await space.services.directory.register(AgentName("researcher"), Card(), owner)
        await channels.add(console(FEISHU), owner)
        await channels.bind(FEISHU, OWN, parse_address("researcher"), owner)
        yield space
        assert await space.services.audit.check() == []


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def text(words: str) -> list[Json]:
    return [{"type": "text", "text": words}]


def results(request: ModelRequest) -> int:
    """Return the number of tool results that a model has seen."""
    return sum(entry.kind is EntryKind.RESULT for entry in request.entries)


def letters(request: ModelRequest, wanted: str) -> Sequence[re.Match[str]]:
    """Return the messages that a model was shown whose head contains `wanted`, as matches of head and text."""
    found = re.finditer(r"<peer-message ([^>]*)>\n(.*?)\n</peer-message>", request.text, re.DOTALL)
    return [letter for letter in found if wanted in letter[1]]


def attribute(letter: re.Match[str], name: str) -> str:
    found = re.search(rf'{name}="([^"]*)"', letter[1])
    assert found is not None, f"{name} is missing in {letter[1]}"
    return found[1]


def researcher(request: ModelRequest) -> Line:
    """Tell the user which agent does the work, delegate to the coder with the user's conversation, and note the
    updates."""
    (wish,) = letters(request, 'from="feishu"')
    channel, conversation = attribute(wish, "conversation").split()
    if results(request) == 0:
        reply = {"to": channel, "reply_to": attribute(wish, "number"), "parts": text(PROMISE)}
        return ToolCall("send_message", reply)
    if results(request) == 1:
        callback = {"channel": channel, "session_id": conversation}
        return ToolCall("delegate_task", {"to": "coder", "parts": text(WISH), "callback": callback})
    return "noted"


def doer(request: ModelRequest) -> Line:
    """Accept a task, report progress, and complete it."""
    (task,) = letters(request, 'kind="task"')
    update: dict[str, Json] = {"task": attribute(task, "number")}
    moves: list[dict[str, Json]] = [
        {"state": "accepted"},
        {"state": "working", "parts": text("half of it")},
        {"state": "completed", "parts": text(RESULT)},
    ]
    done = results(request)
    return ToolCall("update_task", {**update, **moves[done]}) if done < len(moves) else "done"


def lead(request: ModelRequest) -> Line:
    """Accept a task, delegate it further, and complete it with the result."""
    (task,) = letters(request, 'kind="task"')
    number = attribute(task, "number")
    finished = letters(request, 'state="completed"')
    if results(request) == 0:
        return ToolCall("update_task", {"task": number, "state": "accepted"})
    if results(request) == 1:
        return ToolCall("delegate_task", {"to": "tester", "parts": text(task[2])})
    if results(request) == 2 and finished:
        return ToolCall("update_task", {"task": number, "state": "completed", "parts": text(finished[0][2])})
    return "waiting" if results(request) == 2 else "done"


def post(pump: Started) -> tuple[str, str]:
    """Return the next post in the user's conversation: its sender and its text."""
    line = pump.line()
    where, who, said = line.split(" ", 2)
    assert where == f"feishu/{USER}", line
    return who.removesuffix(":"), said


async def updates(space: Space, delegator: str) -> Sequence[dict[str, Json]]:
    """Return the updates that an agent got about the task that it delegated, in the form of mailboxes."""
    (view,) = await space.services.tasks.find(TaskFilter(delegator=AgentName(delegator)))
    thread = await space.services.dialogue.thread(view.task.id)
    documents = [mailbox_document(message) for message in thread if message.kind is Kind.UPDATE]
    return [document for document in documents if document["to"] == delegator]


def said(document: dict[str, Json]) -> tuple[str, str]:
    task, content = document["task"], document["content"]
    assert isinstance(task, dict)
    assert isinstance(content, dict)
    return str(task["state"]), str(content["parts"])


@pytest.mark.requirement("mailbox.end-to-end")
async def test_the_user_sees_the_result_in_the_conversation_where_it_was_asked_for(
    url: str, folder: Folder, start: Start
) -> None:
    async with ScriptedModel(researcher) as asked, ScriptedModel(doer) as works, space_with_users(url) as space:
        agents = [start("agent", "researcher", "mailbox", asked.url), start("agent", "coder", "mailbox", works.url)]
        go(agents)
        assert [told(one) for one in agents] == ["joined", "joined"]
        with folder.start("channels", "run", "feishu") as pump:
            folder.covey("channels", "say", "feishu", USER, WISH, "--person", "user_123")
            assert post(pump) == ("researcher", PROMISE)
            assert post(pump) == ("coder", f"[task completed] {RESULT}")
        heard = await updates(space, "researcher")
        assert [said(document)[0] for document in heard] == ["accepted", "working", "completed"]
        assert RESULT in said(heard[-1])[1]
        assert {str(document["callback"]) for document in heard} == {str({"session_id": USER, "channel": "feishu"})}
        # The model of the delegator is shown the result with its conversation.
        while not (seen := letters(asked.requests[-1], 'state="completed"')):
            await asked.request(len(asked.requests) + 1)
        assert (attribute(seen[0], "conversation"), seen[0][2]) == (f"feishu {USER}", RESULT)
        assert all(request.refusal is None for request in (*asked.requests, *works.requests))


@pytest.mark.requirement("mailbox.callback")
async def test_the_callback_travels_through_every_relay_and_the_result_to_the_conversation(
    url: str, folder: Folder, start: Start
) -> None:
    models: dict[str, Model] = {"researcher": researcher, "coder": lead, "tester": doer}
    async with (
        ScriptedModel(researcher) as first,
        ScriptedModel(lead) as second,
        ScriptedModel(doer) as third,
        space_with_users(url) as space,
    ):
        urls = dict(zip(models, (first.url, second.url, third.url), strict=True))
        agents = [start("agent", name, "mailbox", model) for name, model in urls.items()]
        go(agents)
        assert [told(one) for one in agents] == ["joined"] * 3
        with folder.start("channels", "run", "feishu") as pump:
            folder.covey("channels", "say", "feishu", USER, WISH)
            assert post(pump) == ("researcher", PROMISE)
            assert post(pump) == ("coder", f"[task completed] {RESULT}")
        (top,) = await space.services.tasks.find(TaskFilter(delegator=AgentName("researcher")))
        whole, part = await space.services.tasks.tree(top.task.id)
        assert {view.message.callback for view in (whole, part)} == {Callback("feishu", USER)}
        assert (whole.message.trace, part.message.trace) == (("researcher",), ("researcher", "coder"))
        assert (whole.message.hops_left, part.message.hops_left) == (2, 1)
        assert (whole.task.state, part.task.state) == (TaskState.COMPLETED, TaskState.COMPLETED)
        for delegator in ("researcher", "coder"):
            heard = await updates(space, delegator)
            assert said(heard[-1])[0] == "completed"
            assert {str(document["callback"]) for document in heard} == {str({"session_id": USER, "channel": "feishu"})}
