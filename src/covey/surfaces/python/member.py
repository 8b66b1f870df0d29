"""Members: sessions of agents in the Python API.

`Errand` is in this module because the two classes name each other: a member spawns functions that do errands, and an
errand acts through a member.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import Literal, TypedDict, Unpack

from covey.core.attention.pending import Pending
from covey.core.checks import check_known, choice, flag, function, items, note, place, seconds, text, whole
from covey.core.checks import file as parse_file
from covey.core.checks import lease as parse_lease
from covey.core.directory.session import Activity, Session
from covey.core.errors import Invalid
from covey.core.identity import Identity
from covey.core.ledger.delivery import DeliveryRecord as Record
from covey.core.ledger.message import FilePart, Kind, Message
from covey.core.ledger.offer import EvidenceGrade, Presentation
from covey.core.ledger.outcome import Outcome, Verdict
from covey.core.ledger.ticket import Ticket
from covey.core.limits import OFFER_LEASE
from covey.core.names import AgentName, DeliveryId, known_scope, parse_message_id, parse_offer_id, parse_ticket_id
from covey.core.work.approval import Approval
from covey.core.work.run import Run, RunState
from covey.ports.children import ChildResult, ChildTaskGroup, PythonChild
from covey.ports.children import ChildWork as Given
from covey.runtime.cancellation import Finisher
from covey.runtime.tasks.held_task import Answer, Failure, outcome_of
from covey.runtime.tasks.worker import TaskIntake, Worker
from covey.services.attention.offers import Showing
from covey.services.dialogue.dialogue import SweepResult
from covey.services.dialogue.negotiation import SessionExchange
from covey.services.directory.directory import Joined
from covey.services.space import Services
from covey.surfaces.python.inbox import Inbox
from covey.surfaces.python.messages import (
    GradeName,
    MessageOptions,
    Receipt,
    decide,
    draft_from,
    policy_from,
    reply_to,
    request_approval,
    say,
)
from covey.surfaces.python.spawned import Spawned, spawn_request, task_group
from covey.surfaces.python.tasks import Assignment, Delegated, Handler, Judgement, WorkOptions, delegate, judge_by
from covey.surfaces.python.tasks import worker as make_worker
from covey.surfaces.python.turn import Turn, TurnOptions, capacity_from, terms_from
from covey.toolkits.catalogue import DEFAULT
from covey.toolkits.catalogue import toolkit as find_toolkit
from covey.toolkits.tool import Caller
from covey.toolkits.toolbox import Toolbox

KindName = Literal["notify", "request", "update"]


class Errand:
    """The argument of a function that runs as a child: its task, or in session mode also a later message."""

    def __init__(self, given: Given, me: "Member", report: Callable[[str], None], services: Services) -> None:
        self._given = given
        self._services = services
        self.me = me
        """The child's own session, with which the child sends, asks and reads."""
        self.report = report
        """Report the output so far. This output counts also if the child is stopped or times out."""

    @property
    def task(self) -> str:
        """The task, in the words of its sender."""
        return self._given.child.task if self._given.number == 1 else self._given.message.text

    @property
    def prompt(self) -> str:
        """The task as a prompt for a model: with the sender, the way to report, and the messages before."""
        return self._given.prompt

    @property
    def message(self) -> Message:
        return self._given.message

    @property
    def run(self) -> Run:
        return self._given.child.run

    @property
    def files(self) -> tuple[FilePart, ...]:
        """The attachments of the child, as they were at its start."""
        return self._given.child.files

    async def file(self, part: FilePart) -> bytes:
        """Return the content of an attachment."""
        return await self._services.attachments.content(parse_file(part))


Child = Callable[[Errand], Awaitable[Answer]]
"""An async function of this program that runs as a child."""


class SpawnOptions(TypedDict, total=False):
    """Options of `spawn` besides the task."""

    agent: str
    """The agent of the child; by default this agent."""
    mode: Literal["run", "session"]
    """`run`: the child ends with its answer. `session`: it stays, and is run again for each message to it."""
    thread: bool | tuple[str, str]
    """True, or a channel and a conversation, where people read along and can write to the child."""
    time_limit: float | None
    """The time in seconds after which the child's whole process tree is ended; None, the default, sets no limit."""
    attachments: Collection[str | FilePart]
    """Paths of files, or snapshots made by `attach`. The child gets the files as they are now."""
    label: str
    """A name of the child among the live sessions; an address for `say`."""
    description: str
    """The task in a few words, for lists."""
    relaying: str
    """The id of the message on whose behalf the child works."""
    cwd: str
    """The working directory of a child of the caller's own agent; by default the current one."""
    run: Child
    """An async function that runs as the child, instead of the program on the agent's card."""
    group: ChildTaskGroup
    """The asyncio.TaskGroup that the function runs in. Without a group the function ends with the space."""


class Member:
    """Returned by `space.join`. A member sends, asks, answers and reads in the name of its agent until it leaves."""

    def __init__(self, joined: Joined, services: Services, finisher: Finisher | None = None) -> None:
        self._joined = joined
        self._finisher = finisher or Finisher()
        self._services = services
        self._identity = joined.identity
        self._turns = 0
        self.inbox = Inbox(joined.session.inbox, services, joined.identity)

    @property
    def name(self) -> AgentName:
        return self._joined.session.agent

    @property
    def session(self) -> Session:
        """The session as of its start: its id, key and label."""
        return self._joined.session

    @property
    def identity(self) -> Identity:
        return self._identity

    @property
    def secret(self) -> str:
        """The secret with which another process proves that it acts for this session."""
        return self._joined.secret

    async def send(
        self, to: str | Sequence[str], text: str, *, kind: KindName = "notify", **options: Unpack[MessageOptions]
    ) -> Receipt:
        """Send to an agent, a session, several of them, or everyone (*). When this returns, the message is durable.

        A request sent this way expects a reply, but the call does not wait for the reply; `ask` does. The receipt is
        false if no copy reached an inbox. Most used options: `scope`, `subject`, `data`, `files`, `in_reply_to`,
        `expires_in`, `when_offline`, and `id` for a retry without a second effect.
        """
        parsed = Kind.NOTIFY if kind == "notify" else choice(Kind, kind, "kind")
        if parsed in (Kind.RESPONSE, Kind.TASK):
            raise Invalid("kind", kind, "use notify, request or update; `reply` sends a response")
        draft = draft_from(parsed, to, text, options, self._services.clock, expects_reply=parsed is Kind.REQUEST)
        mail = self._services.mail
        sent = await mail.submit(draft, self._identity, policy_from(options))
        return Receipt(sent.receipt, mail)

    async def ask(
        self, to: str, text: str, *, timeout: float | None = 30.0, **options: Unpack[MessageOptions]
    ) -> Outcome:
        """Ask an agent and wait for the answer: at most `timeout` seconds, or without limit for None. A timeout is an
        outcome too, with a ticket for `resume`. The outcome is true only if the agent answered. Most used options:
        `scope`, `data`, `files`, `deadline`, `in_reply_to` for a question back, `answers_meanwhile`."""
        draft = draft_from(Kind.REQUEST, to, text, options, self._services.clock, expects_reply=True)
        return await self._services.asks.ask(draft, self.identity, policy_from(options), seconds(timeout, "timeout"))

    async def resume(self, ticket: str, *, timeout: float | None = 30.0) -> Outcome:
        """Wait again for the answer to an earlier question of this agent, for None without limit."""
        return await self._services.asks.resume(parse_ticket_id(ticket), self.identity, seconds(timeout, "timeout"))

    async def request_approval(
        self, to: str, what: str, text: str, *, timeout: float | None = 30.0, **options: Unpack[MessageOptions]
    ) -> Approval:
        """Ask an agent for an approval and wait for its decision. `what` is plan, shutdown or a name of your own.

        The result is true only if the agent approved. A timeout is no decision: the result then has a ticket. With
        `timeout=None` the call waits without limit. The options are those of `ask`.
        """
        return await request_approval(self._services, self.identity, to, what, text, timeout, options)

    async def resume_approval(self, ticket: str, *, timeout: float | None = 30.0) -> Approval:
        """Wait again for the decision on an earlier request of this agent, for None without limit."""
        parsed, limit = parse_ticket_id(ticket), seconds(timeout, "timeout")
        return await self._services.approvals.resume(parsed, self.identity, limit)

    async def approve(self, message_id: str, reason: str = "") -> Receipt:
        """Approve the request in a message. The first decision counts."""
        return await decide(self._services, self.identity, message_id, True, reason)

    async def reject(self, message_id: str, reason: str) -> Receipt:
        """Reject the request in a message, with a reason."""
        return await decide(self._services, self.identity, message_id, False, reason)

    async def reply(
        self, message_id: str, text: str, *, close: bool = True, **options: Unpack[MessageOptions]
    ) -> Receipt:
        """Answer a message by its id, and close the question. With `close=False` it stays owed until `archive`."""
        return await reply_to(self._services, self.identity, message_id, text, options, close=close)

    async def delegate(self, to: str, text: str, **options: Unpack[MessageOptions]) -> Delegated:
        """Delegate a task to an agent. When this returns, the task is durable; `result` waits for the outcome. One
        session of the agent takes the task. Most used options: `deadline`, `data`, `files`, `scope`, `callback`."""
        return await delegate(self._services, self.identity, to, text, options)

    async def take(
        self, *, timeout: float | None = 30.0, judgement: Judgement | None = None, start: bool = False
    ) -> Assignment | None:
        """Wait for the next task that this agent has capacity for, and take the task. Return None on timeout;
        `timeout=None` waits without limit. Several sessions of an agent take different tasks: each task is taken by
        one. With `start` the task starts in the same step, unless it must be judged first."""
        limit, starts = seconds(timeout, "timeout"), flag(start, "start")
        judge = judge_by(judgement, self._services, self.identity)
        held = await TaskIntake(self._services, self.identity, self._finisher, judge, starts=starts).wait(limit)
        return None if held is None else Assignment(held)

    async def work(self, handler: Handler, **options: Unpack[WorkOptions]) -> None:
        """Take tasks of this agent as they come, and hand in the handler's result for each: a text, a dict, a `Result`
        or None. A task whose handler raises has failed. Run until cancelled. Most used options: `concurrency`, and
        `until_idle` to end when no task is left."""
        await self.worker(handler, **options).run()

    def worker(self, handler: Handler, **options: Unpack[WorkOptions]) -> Worker:
        """Return the worker that `work` runs, for programs that stop it in an orderly way."""
        return make_worker(self._services, self.identity, self._finisher, handler, options)

    async def spawn(self, task: str, **options: Unpack[SpawnOptions]) -> Spawned:
        """Start a child that does a task and answers, and return at once. `result` waits for the answer. Without such a
        wait the answer is pushed to the inbox. The limits on this agent's card apply. Most used options: `agent`,
        `run`, `mode`, `time_limit`, `attachments`."""
        check_known(options, SpawnOptions.__annotations__)
        run = function(options["run"], "run") if "run" in options else None
        group = task_group(options["group"]) if "group" in options else None
        if run is None and group is not None:
            raise Invalid("group", group, "a group is for a child that is a function: run=…")
        python = None if run is None else python_child(self._services, run, group)
        wish = spawn_request(task, options, python)
        return Spawned(await self._services.spawning.spawn(wish, self.identity), self._services, self.identity)

    async def say(
        self, to: str, text: str, *, timeout: float | None = 30.0, callback: tuple[str, str] | None = None
    ) -> SessionExchange:
        """Send a text to a session, by its key or label, and wait for the reply. This is one round of a negotiation;
        the next call is the next round. If this session owes the other an answer, the text is that answer. REPLY_SKIP
        ends the negotiation. With a timeout of 0 the call does not wait, and no reply is needed; None
        waits without limit. The result is true only if the other side replied, and is announced at `callback`."""
        return await say(self._services, self.identity, to, text, timeout, callback)

    async def attach(self, path: str, media_type: str = "application/octet-stream") -> FilePart:
        """Make a snapshot of a file, to be sent with `files=[…]`."""
        return await self._services.attachments.snapshot(place(path), note(media_type, "media type"))

    async def receipt(self, message_id: str) -> Receipt:
        """Return the receipt of any message."""
        return Receipt(await self._services.mail.receipt(parse_message_id(message_id)), self._services.mail)

    async def handle(self, message_id: str) -> None:
        """Mark this agent's copy of a message as handled."""
        await self._services.mail.settle(parse_message_id(message_id), self.identity, "handled")

    async def dismiss(self, message_id: str) -> None:
        """Dismiss a message. A debt that the message carries stays owed."""
        await self._services.mail.settle(parse_message_id(message_id), self.identity, "dismissed")

    async def archive(self, message_id: str) -> None:
        """Archive a message. A request must have been answered first."""
        await self._services.dialogue.archive(parse_message_id(message_id), self.identity)

    async def withdraw(self, message_id: str) -> Receipt:
        """Withdraw the copies of a message of this agent that were not shown to a model yet."""
        record = await self._services.mail.withdraw(parse_message_id(message_id), self.identity)
        return Receipt(record, self._services.mail)

    async def waive(self, ticket: str) -> Ticket:
        """Waive an answer that this agent is owed."""
        return await self._services.dialogue.waive(parse_ticket_id(ticket), self.identity)

    async def owed(self) -> Sequence[Ticket]:
        """Return the answers that this agent owes, oldest first."""
        return await self._services.dialogue.owed_by(self.name)

    async def gate(self, scope: str, *, force_because: str | None = None) -> Verdict:
        """Return the gate's verdict on a scope. With a reason, force the gate."""
        parsed = known_scope(scope)
        if force_because is None:
            return await self._services.dialogue.gate(parsed)
        return await self._services.dialogue.force(parsed, self.identity, note(force_because, "reason"))

    async def sweep(self, scope: str, *, force_because: str | None = None) -> SweepResult:
        """Archive all messages of a scope without open debts."""
        why = None if force_because is None else note(force_because, "reason")
        return await self._services.dialogue.sweep(known_scope(scope), self.identity, why)

    def turn(self, name: str | None = None, **options: Unpack[TurnOptions]) -> Turn:
        """Return a turn, to be entered with `async with`: one call of a model, with the waiting mail in its
        request. Most used options: `budget` in characters, and `**me.tools().showing` for a model with these tools."""
        self._turns += 1
        turn = note(name, "turn") if name is not None else f"turn {self._turns}"
        return Turn(self._services, self.identity, self._finisher, turn, terms_from(options), capacity_from(options))

    def tools(self, toolkit: str = DEFAULT) -> Toolbox:
        """Return the tools with which a model acts as this member: as schemas, as calls, or as functions. Separate the
        names of several toolkits by commas."""
        return Toolbox(find_toolkit(text(toolkit, "toolkit")), Caller(self._services, self.identity))

    async def pending(self, *, timeout: float | None = 0.0, **options: Unpack[TurnOptions]) -> Pending:
        """Return the content of the next turn, without any change. With a `timeout`, wait until there is a message or a
        task to show; None waits without limit. The result is false if no message waits."""
        limit = seconds(timeout, "timeout")
        capacity_from(options)  # checked only: the capacity applies to turns
        return await self._services.attention.look(self.identity, terms_from(options), limit)

    async def offer(
        self,
        turn: str,
        *,
        presentation: Literal["once", "until_handled"] = "once",
        limit: int = 64,
        lease: timedelta = OFFER_LEASE,
    ) -> Showing | None:
        """Take the waiting messages for one showing to a model. Return None if none wait."""
        offers = self._services.offers
        offering = offers.offer(
            self.identity,
            note(turn, "turn"),
            presentation=choice(Presentation, presentation, "presentation"),
            limit=whole(limit, "limit"),
            lease=parse_lease(lease),
        )

        async def give_back(showing: Showing | None) -> None:
            if showing is not None:
                await offers.give_back(showing.offer.id, self.identity, "the caller was cancelled")

        return await self._finisher.acquire(offering, give_back)

    async def confirm(
        self, offer_id: str, grade: GradeName, basis: str, only: Collection[DeliveryId] | None = None
    ) -> Sequence[Record]:
        """Record evidence that an offer, live or past, reached the model."""
        offer = parse_offer_id(offer_id)
        parsed = choice(EvidenceGrade, grade, "grade")
        chosen = None if only is None else items(only, "deliveries", "use a list of the ids of deliveries")
        narrowed = None if chosen is None else frozenset(DeliveryId(text(one, "delivery")) for one in chosen)
        return await self._services.offers.confirm(offer, self.identity, parsed, note(basis, "basis"), narrowed)

    async def named(self, message_id: str, basis: str) -> Sequence[Record]:
        """Record that the model used a message's id in a call: the message must have been in its context."""
        return await self._services.offers.named(parse_message_id(message_id), self.identity, note(basis, "basis"))

    async def give_back(self, offer_id: str, reason: str = "not shown") -> None:
        """End an offer that did not reach the model."""
        await self._services.offers.give_back(parse_offer_id(offer_id), self.identity, note(reason, "reason"))

    async def set_busy(self, busy: bool = True) -> None:
        """Set this session busy, or idle again."""
        activity = Activity.BUSY if flag(busy, "busy") else Activity.IDLE
        await self._services.directory.set_activity(self.identity, activity)

    async def set_status(self, status: str) -> None:
        """Set the status text of this agent."""
        await self._services.directory.set_status(self.identity, note(status, "status"))

    async def heartbeat(self) -> None:
        """Renew the leases of the session and of its offers."""
        await self._services.directory.heartbeat(self.identity)

    async def leave(self) -> None:
        """End the session. Its unhandled mail waits for the agent's next session. A second call does nothing."""
        await self._services.directory.leave(self.identity)

    def __repr__(self) -> str:
        return f"<Member {self.name} {self.session.key}>"


def python_child(services: Services, run: Child, group: ChildTaskGroup | None) -> PythonChild:
    """Wrap a function as a child that can be launched."""

    async def call(given: Given, report: Callable[[str], None]) -> ChildResult:
        session = await services.directory.session(given.child.run.session)
        me = Member(Joined(session, given.child.secret, 0), services)
        outcome = outcome_of(await run(Errand(given, me, report, services)))
        if isinstance(outcome, Failure):
            text = outcome.text or outcome.reason
            return ChildResult(RunState.FAILED, text, outcome.data, outcome.files, outcome.reason)
        return ChildResult(RunState.COMPLETED, outcome.text, outcome.data, outcome.files)

    return PythonChild(call, group)
