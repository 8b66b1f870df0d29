"""Moves of tasks: delegating, taking, reporting progress, and cancelling."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from hypothesis import strategies as st

from covey.core.identity import Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Callback, Kind, TextPart
from covey.core.names import AgentName, MessageId, Scope
from covey.core.work.task import TASK_MOVES, Task, TaskMove, TaskState
from covey.ports.work import TaskFilter
from covey.services.mail.recipients import SendPolicy
from tests.properties.draws import CHANNEL, maybe_scope, names, often, seldom, which
from tests.properties.moves import move
from tests.properties.twins import THE_OPERATOR, NotPossible, Twins

SAID: Final = (TextPart("so it stands"),)

LIKELY: Final[Mapping[TaskState, Sequence[TaskMove]]] = {
    TaskState.PENDING: (TaskMove.ACCEPT, TaskMove.ACCEPT, TaskMove.ACCEPT, TaskMove.REJECT, TaskMove.FAIL),
    TaskState.ACCEPTED: (TaskMove.START, TaskMove.START, TaskMove.START, TaskMove.START, TaskMove.FAIL),
    TaskState.WORKING: (TaskMove.PROGRESS, TaskMove.PROGRESS, TaskMove.COMPLETE, TaskMove.COMPLETE, TaskMove.FAIL),
}
"""Moves that the holder of a task may make next."""
doings = st.sampled_from([move for move in TaskMove if move is not TaskMove.LAPSE])
deadlines = st.sampled_from((None, None, timedelta(seconds=30), timedelta(seconds=300)))


class TaskMoves(Twins):
    @move(
        5,
        who=which,
        to=names,
        scope=maybe_scope,
        due_in=deadlines,
        as_part=seldom,
        part_of=which,
        wants_callback=seldom,
    )
    def delegate(
        self,
        who: int,
        to: AgentName,
        scope: Scope | None,
        due_in: timedelta | None,
        as_part: bool,
        part_of: int,
        wants_callback: bool,
    ) -> None:
        """Delegate a task; sometimes a part of a task that the delegator holds, or with a callback to people."""
        actor = self.actor(who)
        whole = self.task(part_of) if as_part else None
        if whole is not None:
            actor = Identity(whole.agent, whole.claimed_by)
        draft = Draft(
            Kind.TASK,
            (parse_address(to),),
            (TextPart(f"task {len(self.messages)}"),),
            scope=scope,
            deadline=None if due_in is None else self.clock.now() + due_in,
            relaying=whole.id if whole is not None else None,
            callback=Callback(CHANNEL, "c-1") if wants_callback else None,
        )
        self.both(lambda services: services.tasks.delegate(draft, actor, SendPolicy()))

    @move(6, who=which, attempts=st.integers(1, 3), with_judgement=seldom)
    def take(self, who: int, attempts: int, with_judgement: bool) -> None:
        judge = _judge if with_judgement else None
        self.both(lambda services: services.duties.take(self.member(who), judge=judge, attempts=attempts))

    @move(14, task=which, doing=doings, fitting=often, stranger=seldom, who=which, stale=seldom)
    def work_on(self, task: int, doing: TaskMove, fitting: bool, stranger: bool, who: int, stale: bool) -> None:
        """Let the holder of a task make a move, in most cases a legal one.

        Sometimes another agent tries, or a holder that does not know that the task has been taken over.
        """
        chosen = self.task(task)
        if fitting:
            doing = self.pick(LIKELY.get(chosen.state, ()), who)
        actor = self.actor(who) if stranger else self._doer(chosen, who)
        self._do(chosen.id, doing, actor, chosen.attempt + stale)

    @move(
        8, who=which, to=which, forth=st.integers(0, 3), due_in=deadlines, turns=st.lists(which, min_size=3, max_size=3)
    )
    def hand_over(self, who: int, to: int, forth: int, due_in: timedelta | None, turns: list[int]) -> None:
        """Delegate a task to a live session, which takes its next task and makes some moves."""
        doer = self.member(to)
        self.delegate(who, doer.agent, None, due_in, False, 0, False)
        taken = self.both(lambda services: services.duties.take(doer))
        state = TaskState.ACCEPTED
        for turn in turns[:forth] if taken is not None else ():
            assert taken is not None
            if state in LIKELY:
                doing = self.pick(LIKELY[state], turn)
                self._do(taken.task.id, doing, doer, taken.task.attempt)
                state = TASK_MOVES[state][doing]

    @move(2, task=which, stranger=seldom, who=which)
    def cancel(self, task: int, stranger: bool, who: int) -> None:
        chosen = self.task(task)
        actor = self.actor(who) if stranger else Identity(chosen.delegator)
        self.both(lambda services: services.tasks.cancel(chosen.id, actor, "a test"))

    @move(1, task=which, as_delegator=often, who=which)
    def collect(self, task: int, as_delegator: bool, who: int) -> None:
        """Ask for a result with a timeout of zero."""
        chosen = self.task(task)
        actor = Identity(chosen.delegator, chosen.delegator_session) if as_delegator else self.actor(who)
        self.both(lambda services: services.tasks.result(chosen.id, actor, 0))

    @move(1, task=which, agent=names, scope=maybe_scope, is_finished=st.sampled_from((None, True, False)))
    def look_at_tasks(self, task: int, agent: AgentName, scope: Scope | None, is_finished: bool | None) -> None:
        chosen = self.task(task)
        wanted = TaskFilter(agent=agent, scope=scope, is_finished=is_finished)
        self.both(lambda services: services.tasks.view(chosen.id))
        self.both(lambda services: services.tasks.tree(chosen.id))
        self.both(lambda services: services.tasks.history(chosen.id))
        self.both(lambda services: services.tasks.find(wanted, 3))
        self.both(lambda services: services.tasks.find(wanted._replace(agent=None, delegator=agent), 3))

    def task(self, index: int) -> Task:
        """Pick a task; unfinished ones come first, the newest of them at the front."""
        if self.before is None:
            raise NotPossible
        return self.pick(sorted(self.before.tasks.values(), key=lambda task: not task.is_finished), index)

    def _doer(self, task: Task, index: int) -> Identity:
        """Return the holder of a task, or an identity that may take it."""
        if task.claimed_by is not None:
            return Identity(task.agent, task.claimed_by)
        siblings = [session for session in self.sessions if session.agent == task.agent]
        return Identity(task.agent, self.pick(siblings, index).id) if siblings and index % 4 else Identity(task.agent)

    def _do(self, task_id: MessageId, doing: TaskMove, actor: Identity, attempt: int) -> None:
        match doing:
            case TaskMove.ACCEPT:
                self.both(lambda services: services.duties.accept(task_id, actor))
            case TaskMove.REJECT:
                self.both(lambda services: services.duties.reject(task_id, actor, "not now"))
            case TaskMove.START:
                self.both(lambda services: services.duties.start(task_id, actor, attempt))
            case TaskMove.PROGRESS:
                self.both(lambda services: services.duties.progress(task_id, actor, SAID, attempt))
            case TaskMove.COMPLETE:
                self.both(lambda services: services.duties.complete(task_id, actor, SAID, attempt))
            case TaskMove.FAIL:
                self.both(lambda services: services.duties.fail(task_id, actor, "it broke", SAID, attempt))
            case _:
                self.both(lambda services: services.tasks.cancel(task_id, THE_OPERATOR))


async def _judge(view: object) -> str | None:
    """Accept about every other task."""
    return None if str(view).count("a") % 2 else "not to my taste"
