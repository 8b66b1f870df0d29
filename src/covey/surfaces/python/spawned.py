"""Spawned children: the key, the result and the stop of a child that this program has started."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal, Unpack, cast

from covey.core.checks import (
    callback,
    choice,
    flag,
    is_unicode,
    note,
    place,
    seconds,
)
from covey.core.checks import files as parse_files
from covey.core.errors import Invalid
from covey.core.identity import Identity, SessionKey
from covey.core.ledger.message import FilePart, Kind
from covey.core.names import parse_agent_name, parse_label, parse_message_id
from covey.core.work.run import Run, RunId, RunMode, RunState
from covey.ports.children import ChildTaskGroup, PythonChild
from covey.services.children.request import SpawnRequest
from covey.services.children.spawning import STOP_SECONDS, RunResult
from covey.services.space import Services
from covey.surfaces.python.messages import MessageOptions, Receipt, draft_from, policy_from


class Spawned:
    """Returned by `me.spawn`. The object shows the run as of the last read."""

    def __init__(self, run: Run, services: Services, actor: Identity) -> None:
        self._run = run
        self._services = services
        self._actor = actor

    @property
    def key(self) -> SessionKey:
        """The address of the child."""
        return self._run.key

    @property
    def run_id(self) -> RunId:
        return self._run.id

    @property
    def record(self) -> Run:
        return self._run

    @property
    def state(self) -> RunState:
        return self._run.state

    async def refresh(self) -> "Spawned":
        """Read the run again."""
        self._run = (await self._services.runs.view(self.run_id)).run
        return self

    async def result(self, *, timeout: float | None = 30.0, answers_meanwhile: bool = False) -> RunResult | None:
        """Wait for the child's answer. Return None on timeout: the answer is then pushed to the inbox when it comes, or
        the caller can wait again; `timeout=None` waits without limit. `status` is completed, failed, timed_out,
        stopped or lost. The result is true only if the child completed its task.

        A waiting caller counts as one that answers nothing. A request of the child to the caller is then refused as a
        deadlock, unless it is a question back in the thread of the child's task. Set `answers_meanwhile` if another
        part of the program answers."""
        limit, serves = seconds(timeout, "timeout"), flag(answers_meanwhile, "answers_meanwhile")
        found = await self._services.spawning.result(self.run_id, self._actor, limit, answers_meanwhile=serves)
        await self.refresh()
        return found

    async def send(
        self, text: str, *, kind: Literal["notify", "request"] = "notify", **options: Unpack[MessageOptions]
    ) -> Receipt:
        """Send a message to the child. A request expects a reply. A child in session mode is run again for the
        message."""
        parsed = choice(Kind, kind, "kind")
        if parsed not in (Kind.NOTIFY, Kind.REQUEST):
            raise Invalid("kind", kind, "use notify or request")
        asks = parsed is Kind.REQUEST
        draft = draft_from(parsed, str(self.key), text, options, self._services.clock, expects_reply=asks)
        mail = self._services.mail
        return Receipt(await mail.send(draft, self._actor, policy_from(options)), mail)

    async def stop(self, reason: str = "", *, timeout: float | None = STOP_SECONDS) -> "Spawned":
        """Stop the child: its program is told to terminate, then killed. The output until then is the result."""
        spawning, limit = self._services.spawning, seconds(timeout, "timeout")
        self._run = await spawning.stop(self.run_id, self._actor, note(reason, "reason"), limit)
        return self

    def __repr__(self) -> str:
        return f"<Spawned {self.key}: {self.state}>"


def spawn_request(task: object, options: Mapping[str, object], python: PythonChild | None) -> SpawnRequest:
    """Check the arguments of `spawn`, and return them as a request."""
    thread, limit, relaying = options.get("thread", False), options.get("time_limit"), options.get("relaying")
    agent, label = options.get("agent"), options.get("label")
    return SpawnRequest(
        task=_task(task),
        agent=None if agent is None else parse_agent_name(agent),
        mode=choice(RunMode, options.get("mode", "run"), "mode"),
        thread=thread if isinstance(thread, bool) else callback(thread),
        time_limit=None if limit is None else seconds(limit, "time_limit"),
        attachments=_attachments(options.get("attachments", ())),
        label=None if label is None else parse_label(label),
        description=note(options.get("description", ""), "description"),
        relaying=None if relaying is None else parse_message_id(relaying),
        cwd=str(Path(place(options.get("cwd", "."))).expanduser().absolute()),
        python=python,
    )


def task_group(value: object) -> ChildTaskGroup:
    """Check that a value is a task group, and return it."""
    if not callable(getattr(value, "create_task", None)):
        raise Invalid("group", value, "use an asyncio.TaskGroup")
    return cast(ChildTaskGroup, value)


def _task(value: object) -> str:
    if not isinstance(value, str) or not is_unicode(value):
        raise Invalid("task", value, "use a text")
    return value


def _attachments(value: object) -> tuple[str | FilePart, ...]:
    if isinstance(value, str) or not isinstance(value, Collection):
        raise Invalid("attachments", value, "use a list of paths, or of what `attach` returns")
    found: list[str | FilePart] = []
    for item in cast(Collection[object], value):
        found.append(item if isinstance(item, str) else parse_files([item])[0])
    return tuple(found)
