"""Spawning: starts children within limits, waits for their results, and stops them.

A child is a session of its agent and a request that it owes an answer to: the answer is its result. The stages are in
`spawn_stages`, the time until its end in `supervision`.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from covey.core.authority import check_as
from covey.core.errors import (
    BeyondToken,
    Invalid,
    LauncherUnavailable,
    NotYours,
    RunUnknown,
    TreeExhausted,
    Unavailable,
    WaitCircle,
)
from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.event import Action
from covey.core.ledger.message import Callback, DataPart, FilePart, Message
from covey.core.ledger.outcome import settled_outcome
from covey.core.limits import RUN_PACE
from covey.core.names import message_topic
from covey.core.work.run import Run, RunId, RunState, run_topic, status_of
from covey.core.work.spawning import check_mode, check_time_limit
from covey.ports.children import ChildEvent, Launching
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.children.request import SpawnRequest
from covey.services.children.saga import Saga
from covey.services.children.stages import SpawnContext, SpawnStages
from covey.services.children.supervision import Supervision
from covey.services.dialogue.asks import KNOWN_AFTER, Asks
from covey.services.directory.directory import Directory, check_label_is_free
from covey.services.mail.attachments import Attachments
from covey.services.mail.filing import NoticePorts
from covey.services.mail.waits import WaitRegistry
from covey.services.polling import Poller
from covey.services.records import known_message
from covey.services.warning import warn

STOP_SECONDS = 15.0
"""The seconds that `stop` waits for the end: the time that a program has to terminate, and a margin."""


class RunResult(NamedTuple):
    """The result of a child, or its answer so far. True only if the child completed its task."""

    run: Run
    status: RunState
    """completed, failed, timed_out, stopped or lost; completed if the child gave the answer itself."""
    text: str = ""
    data: Json = None
    files: tuple[FilePart, ...] = ()
    message: Message | None = None
    """The answer; None if there is none, because the spawn failed or the parent waived it."""

    def __bool__(self) -> bool:
        """True only if the child completed its task."""
        return self.status is RunState.COMPLETED


class Spawning:
    """Starts, awaits and stops children. With a `holder`, only that agent's children; `own` is its view of the
    store."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        notice_ports: NoticePorts,
        directory: Directory,
        attachments: Attachments,
        asks: Asks,
        waits: WaitRegistry,
        waiting: Poller,
        supervision: Supervision,
        launching: Callable[[], Launching | None],
        own: Store,
        holder: Identity | None = None,
    ) -> None:
        self._store = store
        self._own = own
        self._clock = clock
        self._notice_ports = notice_ports
        self._directory = directory
        self._attachments = attachments
        self._asks = asks
        self._waits = waits
        self._waiting = waiting
        self._supervision = supervision
        self._launching = launching
        self._holder = holder
        self.stages = SpawnStages
        """The class of the stages; tests replace it."""
        self._half_undone: list[tuple[Saga, BaseException]] = []
        """Failed spawns that could not be undone, because the store failed too."""

    async def spawn(self, wish: SpawnRequest, actor: Identity) -> Run:
        """Start a child and return at once; the run has its id and session key. An error leaves nothing behind.
        SpawnDepth, SpawnLimit, SpawnNotAllowed and, if its causal tree has no room for a child, TreeExhausted name the
        limit, the count, and how to raise it."""
        self._check_holder(actor, "start children of")
        if self._holder is not None and (wish.command or wish.python is not None) and wish.agent is not None:
            check_as(self._holder, wish.agent, "choose the program of")  # the program would act in that agent's name
        wish = await self._with_own_cause(wish)
        if not wish.task.strip():
            raise Invalid("task", wish.task, "say what the child is to do")
        check_mode(wish.mode, wish.thread)
        check_time_limit(wish.time_limit)
        launching = self._launching()
        if launching is None:
            raise LauncherUnavailable("this program has no supervisor for children")
        await self._supervision.sweep(launching)
        await self._undo_again()
        tools = SpawnContext(self._clock.now, self._notice_ports, self._directory, self._attachments, launching)
        stages = self.stages(wish, actor, RunId(self._notice_ports.ids.session_id()), tools)
        walk = Saga(stages.steps(), stages.planned(), actor, self._store, self._clock.now)
        try:
            await walk.go()
        except BaseException as error:
            await self._undo(walk, error, launching)
            if isinstance(error, TreeExhausted):
                await self._note_storm(stages, error, actor)
            raise
        await launching.watch(stages.child(walk.run))
        return walk.run

    async def result(
        self, run_id: RunId, actor: Identity, timeout: float, *, answers_meanwhile: bool = False
    ) -> RunResult | None:
        """Wait for the result of a child of the actor's agent. Return None on timeout: the result is then pushed to the
        inbox, or can be waited for again. A returned answer is settled, and does not arrive a second time. Raise
        WaitCircle if the wait would close a cycle, unless the actor `answers_meanwhile` the questions of others."""
        self._check_holder(actor, "wait for children of")
        run = await self.run(run_id)
        _check_party(actor, run, "wait for", (run.parent_agent,))

        async def look() -> Run | None:
            async def operation(tx: Transaction) -> Run | None:
                ticket = await tx.tickets.get(run.ticket)
                now = await known_run(tx, run_id)
                if ticket is None:
                    return now if now.has_ended else None
                return now if settled_outcome(ticket) is not None else None

            return await self._store.read(operation)

        begins = timeout > 0 and await look() is None
        topics = [message_topic(run.request), run_topic(run.id)]
        try:
            if begins:
                blocks = timeout > KNOWN_AFTER and not answers_meanwhile
                await self._waits.begin(run.ticket, actor, timeout, blocks=blocks)
            found = await self._waiting.until(topics, look, timeout, RUN_PACE)
            if found is None and timeout > 0:
                await self._waits.end(run.ticket, actor)
            return None if found is None else await self._result_of(found, actor)
        except (WaitCircle, GeneratorExit):
            raise  # no wait has begun, or nothing may be awaited any more
        except BaseException:
            await self._waits.give_up(run.ticket, actor)
            raise

    async def stop(self, run_id: RunId, actor: Identity, why: str = "", timeout: float = STOP_SECONDS) -> Run:
        """Stop a child, no matter which process supervises it: its program is told to terminate, then killed. Return
        the run's new state; a run that has ended is unchanged. The parent's agent, the child's own agent and the
        operator may call this."""
        self._check_holder(actor, "stop children of")
        await self.run(run_id)

        async def operation(tx: Transaction) -> Run:
            run = await known_run(tx, run_id)
            _check_party(actor, run, "stop", (run.parent_agent, run.agent))
            if run.has_ended or run.stop_reason is not None:
                return run
            asked = run._replace(stop_reason=why or f"stopped by {actor.agent}")
            await tx.runs.put(asked)
            act = Act(tx, actor, self._clock.now())
            await journal(
                act,
                Action.RUN_STOPPING,
                message_id=run.request,
                agent=run.agent,
                run=run.id,
                reason=asked.stop_reason,
            )
            tx.ring(run_topic(run.id))
            return asked

        async def look() -> Run | None:
            run = await self.run(run_id)
            return run if run.has_ended else None

        asked = await self._store.commit(operation)
        return asked if asked.has_ended else await self._waiting.until([run_topic(run_id)], look, timeout) or asked

    async def run(self, run_id: RunId) -> Run:
        """Return a run as it is now. Raise RunUnknown if there is none."""
        return await self._own.read(lambda tx: known_run(tx, run_id))

    def _check_holder(self, actor: Identity, action: str) -> None:
        if self._holder is not None:
            check_as(self._holder, actor.agent, action)

    async def _with_own_cause(self, wish: SpawnRequest) -> SpawnRequest:
        """Return the wish without messages that the holder can't see: an agent can't relay another's mail. Nor can the
        holder bind a conversation of people."""
        if self._holder is None:
            return wish
        holder, label = self._holder, wish.label
        await self._own.read(lambda tx: check_label_is_free(tx, label, holder))
        if isinstance(wish.thread, Callback):
            raise BeyondToken(self._holder.agent, "bind a conversation of people")
        relayed, led_by = wish.relaying, wish.led_by
        if relayed is not None:
            await self._own.read(lambda tx: known_message(tx, relayed))
        seen = None if led_by is None else await self._own.read(lambda tx: tx.messages.get(led_by))
        return wish._replace(led_by=None if seen is None else led_by)

    async def _result_of(self, run: Run, actor: Identity) -> RunResult:
        ticket = await self._store.read(lambda tx: tx.tickets.get(run.ticket))
        answer = None if ticket is None else (await self._asks.resume(ticket.id, actor, 0)).answer
        if answer is None:
            return RunResult(run, run.state, run.reason or "")
        return RunResult(
            run,
            status_of(answer),
            answer.text,
            next((part.data for part in answer.parts if isinstance(part, DataPart)), None),
            tuple(part for part in answer.parts if isinstance(part, FilePart)),
            answer,
        )

    async def _note_storm(self, stages: SpawnStages, error: TreeExhausted, actor: Identity) -> None:
        """Record that a causal tree was stopped at a spawn, because the transaction that detected it was rolled
        back."""
        with suppress(Unavailable):  # the parent gets the error even if it can't be recorded
            await self._store.commit(lambda tx: stages.note_storm(Act(tx, actor, self._clock.now()), error))

    async def _undo(self, walk: Saga, error: BaseException, launching: Launching) -> None:
        try:
            if await walk.undo(error):
                await launching.plugins.tell(ChildEvent.FAILED, walk.run)
        except Unavailable as trouble:
            warn("the spawn of run %s failed and can't be undone yet: %s", walk.run.id, trouble.message)
            self._half_undone.append((walk, error))

    async def _undo_again(self) -> None:
        while self._half_undone:
            walk, error = self._half_undone[0]
            await walk.undo(error)
            del self._half_undone[0]


async def known_run(tx: Transaction, run_id: RunId) -> Run:
    """Return a run. Raise RunUnknown if there is none."""
    run = await tx.runs.get(run_id)
    if run is None:
        raise RunUnknown(run_id)
    return run


def _check_party(actor: Identity, run: Run, action: str, agents: tuple[str, ...]) -> None:
    if actor.agent not in agents and not actor.is_operator:
        raise NotYours(f"{action} the run of", run.request, actor.agent, " or ".join(dict.fromkeys(agents)))
