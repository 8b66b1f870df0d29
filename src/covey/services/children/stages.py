"""The ten stages of a spawn, in order. Each is journalled, and undone if a later one fails.

 1 permission     depth, number of children, allow lists                in the ledger
 2 session        the child's session and its run                       in the ledger
 3 thread         a conversation is bound to the session                in the ledger
 4 attachments    files become snapshots                                in the world
 5 prompt         the request that the child owes an answer to          in the ledger
 6 workspace      the directory of its program; its folder is made      in the world
 7 launch         its program is started                                in the world
 8 registration   its run is running                                    in the ledger
 9 hooks          plugins are notified                                  in the world
10 return         the parent gets the key and the id                    in the ledger

Stages in the ledger run in a transaction, which adjacent stages share: 1 and 2 are one commit, so that limits hold.
Stages in the world run between commits, and are journalled with the next one.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from covey.core.directory.card import Card
from covey.core.errors import CoveyError, Invalid, NoParent, TreeExhausted
from covey.core.identity import Address, AddressKind, Grade, Identity, main_key
from covey.core.ledger.delivery import WAITING, DeliveryState, Move
from covey.core.ledger.draft import Draft, compose
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import Callback, FilePart, Kind, Message, body_of
from covey.core.ledger.offer import Presentation, whole
from covey.core.ledger.ticket import TicketMove, TicketState
from covey.core.ledger.wire import encode
from covey.core.limits import MAX_LEASE
from covey.core.names import AgentName, MessageId, OfferId
from covey.core.work.run import LauncherKind, Run, RunId, RunMove, RunState, Stage
from covey.core.work.spawning import SpawnParent, carried, check_spawn, check_startable, first_prompt
from covey.ports.children import Child, ChildEvent, ChildWork, Launching
from covey.ports.store import Transaction
from covey.ports.work import RunFilter
from covey.services.act import Act, shift, shift_ticket
from covey.services.attention.offers import OfferPart, make_offer
from covey.services.channels.conversations import bind_conversation
from covey.services.children.request import SpawnRequest
from covey.services.children.run_moves import shift_run, unbind_run
from covey.services.children.saga import SagaStep
from covey.services.directory.directory import Directory, JoinRequest, SessionKeys
from covey.services.directory.presence import end_session, live_sessions
from covey.services.directory.settings import check_not_paused
from covey.services.mail.acceptance import Acceptance
from covey.services.mail.attachments import Attachments
from covey.services.mail.filing import NoticePorts
from covey.services.mail.recipients import SendPolicy
from covey.services.records import known_agent, known_message, own_session
from covey.services.storms.check import stop_storm


async def bind_child(act: Act, run: Run, thread: Callback | None, relaying: MessageId | None) -> Run:
    """Bind a conversation to the session of a run: the given one, or a new one."""
    thread = thread or Callback(await _channel_for(act, run, relaying), str(run.label or run.id))
    channel = AgentName(thread.channel)
    bound = await act.tx.bindings.get(channel, thread.session_id)
    if bound is not None:
        raise Invalid("thread", thread.session_id, f"that conversation of {channel} is bound to {bound.to}")
    await bind_conversation(act, channel, thread.session_id, Address(AddressKind.SESSION, run.session))
    return run._replace(thread=thread)


async def _channel_for(act: Act, run: Run, relaying: MessageId | None) -> AgentName:
    """Return the channel that the parent is connected with: the source of the message that it acts upon, the one that
    is bound to it, or the only channel of the space."""
    relayed = None if relaying is None else await act.tx.messages.get(relaying)
    if relayed is not None and relayed.callback is not None:
        agent = await act.tx.agents.get(AgentName(relayed.callback.channel))
        if agent is not None and agent.card.channel:
            return agent.name
    session = None if run.parent is None else await act.tx.sessions.get(run.parent)
    names = {run.parent_agent, *((session.id, str(session.key)) if session else ())}
    bound = {binding.channel for binding in await act.tx.bindings.all() if binding.to.value in names}
    found = sorted(bound or {agent.name for agent in await act.tx.agents.all() if agent.card.channel})
    if not found:
        raise Invalid("thread", True, "this space has no channel for people: add one first (`covey channels add`)")
    if len(found) > 1:
        raise Invalid("thread", True, f"name the channel and the conversation: the channels are {', '.join(found)}")
    return found[0]


SPAWN_FAILED = "its spawn failed"


class SpawnContext(NamedTuple):
    """The dependencies of the stages."""

    now: Callable[[], datetime]
    notice_ports: NoticePorts
    directory: Directory
    attachments: Attachments
    launching: Launching


class SpawnStages:
    """The stages of one spawn. Results that a later stage needs are kept in fields; if a transaction is retried, they
    are computed again."""

    def __init__(self, wish: SpawnRequest, actor: Identity, run_id: RunId, tools: SpawnContext) -> None:
        ids = tools.notice_ports.ids
        self._wish = wish
        self._actor = actor
        self._tools = tools
        self._minted = SessionKeys(ids.session_id(), ids.secret(), tools.notice_ports.liveness.hold())
        self._offer: OfferId = ids.offer_id()
        self._run_id = run_id
        self._asker = actor
        """The identity that the child answers."""
        self._card = Card()
        """The card of the child's agent."""
        self._files: tuple[FilePart, ...] = ()
        self._cwd: str | None = None
        self._request: Message | None = None
        self._is_cleared = True
        """True if no folder exists: it was not made yet, or was removed again."""

    def steps(self) -> Sequence[SagaStep]:
        """Return the ten stages in order. A stage without outside work gets no `in_world`, because that would force an
        extra commit."""
        attachments = self.attachments if self._wish.attachments else None
        workspace = self.workspace if self._has_folder else None
        hooks = self.hooks if self._tools.launching.plugins.are_there else None
        return (
            SagaStep(Stage.PERMISSION, in_ledger=self.permission),
            SagaStep(Stage.SESSION, in_ledger=self.session, undo=self.end_session),
            SagaStep(Stage.THREAD, in_ledger=self.thread, undo=self.unbind),
            SagaStep(Stage.ATTACHMENTS, in_world=attachments),
            SagaStep(Stage.PROMPT, in_ledger=self.prompt, undo=self.withdraw),
            SagaStep(Stage.WORKSPACE, in_world=workspace, unmake=self.clear),
            SagaStep(Stage.LAUNCH, in_world=self.launch, unmake=self.abort),
            SagaStep(Stage.REGISTRATION, in_ledger=self.registration),
            SagaStep(Stage.HOOKS, in_world=hooks),
            SagaStep(Stage.RETURN),
        )

    def planned(self) -> Run:
        """Return the run as planned, before the first stage."""
        wish, session = self._wish, self._minted.session_id
        agent = wish.agent or self._actor.agent
        now = self._tools.now()
        return Run(
            id=self._run_id,
            session=session,
            key=main_key(agent).child(session),
            agent=agent,
            parent_agent=self._actor.agent,
            request=self._tools.notice_ports.ids.message_id(now),
            mode=wish.mode,
            launcher=self._launcher,
            state=RunState.STARTING,
            started_at=now,
            parent=self._actor.session,
            label=wish.label,
            description=wish.description,
            time_limit=wish.time_limit,
            folder=self._tools.launching.place(self._run_id) if self._has_folder else None,
        )

    # ------------------------------------------------------------------------------------------------ the stages

    async def permission(self, act: Act, run: Run) -> Run:
        """Stage 1: check that this parent may have this child."""
        if self._actor.grade in (Grade.SESSION, Grade.TOKEN) and self._actor.session is not None:
            await own_session(act.tx, self._actor)
        run = await self._with_parent(act.tx, run)
        for agent in (run.parent_agent, run.agent):
            await check_not_paused(act.tx, agent)
        child = await act.tx.agents.get(run.agent)
        if child is None and run.launcher is LauncherKind.COMMAND and not self._wish.command:
            child = await known_agent(act.tx, run.agent)  # its error suggests similar names
        card = child.card if child else Card()
        self._card = card._replace(command=self._wish.command) if self._wish.command else card
        parent = await self._parent(act.tx, run)
        check_spawn(parent, run.agent, self._card, await self._alive(act, run, parent.card.max_children))
        check_startable(run.agent, self._card, run.launcher)
        return run

    async def session(self, act: Act, run: Run) -> Run:
        """Stage 2: create the child's session, which this process holds, and its run. From here on the child counts
        against limits."""
        parent = await act.tx.sessions.get(run.parent) if run.parent else None
        above = main_key(run.agent) if parent is None else parent.key
        wish = JoinRequest(run.agent, session_id=run.session, label=run.label, parent=above)
        if self._wish.is_newcomer:
            about = self._wish.description or self._card.description
            wish = wish._replace(name=None, card=self._card._replace(description=about))
        joined = await self._tools.directory.admit(act.tx, wish, self._minted)
        run = run._replace(key=joined.session.key, agent=joined.session.agent)
        await act.tx.runs.put(run)
        return run

    async def thread(self, act: Act, run: Run) -> Run:
        """Stage 3: bind a conversation to the child, so that it gets the messages of people."""
        thread = self._wish.thread
        if thread is False:
            return run
        cause = self._wish.relaying or self._wish.led_by
        return await bind_child(act, run, thread if isinstance(thread, Callback) else None, cause)

    async def attachments(self, _run: Run) -> None:
        """Stage 4: take snapshots of the files."""
        files: list[FilePart] = []
        for given in self._wish.attachments:
            take = self._tools.attachments
            files.append(await take.known(given) if isinstance(given, FilePart) else await take.snapshot(given))
        self._files = tuple(files)

    async def prompt(self, act: Act, run: Run) -> Run:
        """Stage 5: send the request with the first prompt. Its answer will be the result."""
        parent = await act.tx.sessions.get(run.parent) if run.parent else None
        asker = run.parent_agent if parent is None else str(parent.key)
        draft = Draft(
            kind=Kind.REQUEST,
            to=(Address(AddressKind.SESSION, run.session),),
            parts=carried(first_prompt(run, self._wish.task, self._files, asker), self._files),
            expects_reply=True,
            relaying=self._wish.relaying,
            callback=run.thread,
        )
        relayed = None if self._wish.relaying is None else await known_message(act.tx, self._wish.relaying)
        led_by = None if self._wish.led_by is None else await act.tx.messages.get(self._wish.led_by)
        composed = compose(draft, self._asker, run.request, act.now, None, relayed, led_by)
        self._request = request = composed._replace(marks=Marks(run=run.id, brief=self._wish.task))
        acceptance = Acceptance(self._tools.notice_ports.ids, self._tools.notice_ports.liveness)
        asking = act._replace(actor=self._asker)
        receipt = await acceptance.accept(asking, request, encode(request), SendPolicy(spawns=True), None, [])
        if isinstance(receipt, CoveyError):  # the causal tree is exhausted
            raise receipt
        if not any(copy.session == run.session and copy.has_arrived for copy in receipt.deliveries):
            raise Invalid("child", run.agent, f"its first prompt was refused: {receipt.deliveries[0].reason}")
        return run

    async def workspace(self, run: Run) -> None:
        """Stage 6: choose the directory. A child of the parent's own agent works in the parent's directory; any other
        in the workspace of its card, or in its own folder if the card names none."""
        self._is_cleared = False
        inherits = run.agent == run.parent_agent or self._wish.is_newcomer
        self._cwd = self._wish.cwd if inherits else self._card.workspace
        await self._tools.launching.furnish(self.child(run))

    async def launch(self, run: Run) -> None:
        """Stage 7: start the child's program."""
        if self._request is None:
            raise RuntimeError("the prompt comes before the launch")
        await self._tools.launching.launch(ChildWork(self.child(run), self._request, self._request.text))

    async def registration(self, act: Act, run: Run) -> Run:
        """Stage 8: record that the child runs, and that it was shown its request."""
        session = await act.tx.sessions.get(run.session)
        copies = await act.tx.deliveries.of_message(run.request)
        given = [copy for copy in copies if copy.session == run.session and copy.state is DeliveryState.QUEUED]
        if session is not None and given:
            child = act._replace(actor=Identity(run.agent, run.session, Grade.SESSION))
            parts = [OfferPart(copy, whole(len(body_of(await known_message(act.tx, run.request))))) for copy in given]
            await make_offer(child, self._offer, session, parts, "first prompt", Presentation.ONCE, MAX_LEASE)
        return await shift_run(act, run, RunMove.REGISTER)

    async def hooks(self, run: Run) -> None:
        """Stage 9: notify plugins. Their failures do not stop the spawn."""
        await self._tools.launching.plugins.tell(ChildEvent.SPAWNED, run)

    def child(self, run: Run) -> Child:
        """Stage 10: return the child, for the parent's process to supervise."""
        return Child(
            run=run,
            secret=self._minted.secret,
            task=self._wish.task,
            files=self._files,
            command=self._card.command,
            python=self._wish.python,
            cwd=self._cwd,
        )

    # --------------------------------------------------------------------------------------------- undoing them

    async def end_session(self, act: Act, run: Run) -> Run:
        """Undo stage 2: the run has failed, and its session is ended. A folder that does not exist is removed from the
        record."""
        left = run._replace(folder=None) if self._is_cleared else run
        over = await shift_run(act, left, RunMove.FAIL, run.reason)
        session = await act.tx.sessions.get(run.session)
        if session is not None and not session.has_ended:
            await end_session(act, session, SPAWN_FAILED, ())
        return over

    async def unbind(self, act: Act, run: Run) -> Run:
        """Undo stage 3."""
        await unbind_run(act, run)
        return run

    async def withdraw(self, act: Act, run: Run) -> Run:
        """Undo stage 5: withdraw the request and its ticket."""
        for copy in await act.tx.deliveries.of_message(run.request):
            if copy.state in WAITING:
                move = Move.WITHDRAW if copy.state is DeliveryState.QUEUED else Move.SETTLE
                await shift(act, copy, move, SPAWN_FAILED)
        ticket = await act.tx.tickets.get(run.ticket)
        if ticket is not None and ticket.state is TicketState.OPEN:
            await shift_ticket(act, ticket, TicketMove.WITHDRAW)
        return run

    async def clear(self, run: Run) -> None:
        """Undo stage 6. A folder that can't be removed now is left to upkeep."""
        with suppress(CoveyError):
            self._is_cleared = await self._tools.launching.clear(run)

    async def abort(self, run: Run) -> None:
        """Undo stage 7."""
        with suppress(CoveyError):
            await self._tools.launching.abort(run, SPAWN_FAILED)

    async def note_storm(self, act: Act, error: TreeExhausted) -> None:
        """Record that the causal tree was stopped at stage 5. The spawn itself was rolled back. The child is not
        notified, because it was never created."""
        if self._request is not None:
            await stop_storm(act, self._request, (), error, self._tools.notice_ports)

    # --------------------------------------------------------------------------------------------- their inputs

    @property
    def _launcher(self) -> LauncherKind:
        return LauncherKind.COMMAND if self._wish.python is None else LauncherKind.PYTHON

    @property
    def _has_folder(self) -> bool:
        return self._launcher is LauncherKind.COMMAND or bool(self._wish.attachments)

    async def _with_parent(self, tx: Transaction, run: Run) -> Run:
        """Return the run with its parent: the caller, or for a sibling the caller's own parent."""
        if not self._wish.is_sibling:
            return run
        caller = await tx.runs.of_session(self._actor.session) if self._actor.session else None
        if caller is None:
            raise NoParent(self._actor.agent)
        # The parent did not ask for the child: the space asks in its name.
        self._asker = Identity(caller.parent_agent, caller.parent, Grade.SPACE)
        return run._replace(parent=caller.parent, parent_agent=caller.parent_agent, sibling_of=caller.session)

    async def _parent(self, tx: Transaction, run: Run) -> SpawnParent:
        session = await tx.sessions.get(run.parent) if run.parent else None
        agent = await tx.agents.get(run.parent_agent)
        key = None if session is None else session.key
        return SpawnParent(run.parent_agent, key, agent.card if agent else Card(), self._actor.is_operator)

    async def _alive(self, act: Act, run: Run, limit: int) -> int:
        """Return the number of children of the parent's agent, over all its sessions. At the limit, children whose
        process was killed are detected first."""
        alive = await act.tx.runs.alive(run.parent_agent)
        if alive < limit:
            return alive
        others = await act.tx.runs.find(RunFilter(parent_agent=run.parent_agent, has_ended=False), alive)
        for agent in {other.agent for other in others}:
            await live_sessions(act, agent, self._tools.notice_ports.liveness)
        return await act.tx.runs.alive(run.parent_agent)
