"""Contracts of tasks, runs and waits."""

from covey.core.ledger.message import Callback
from covey.core.ledger.waits import Wait
from covey.core.names import AgentName, Label, Scope
from covey.core.work.run import LauncherKind, Run, RunMode, RunState, Stage
from covey.core.work.task import Task, TaskState
from covey.ports.store import Transaction
from covey.ports.work import RunFilter, TaskFilter
from covey.testing.contracts.tables import each, kept
from covey.testing.factories import OpenStore
from covey.testing.records import a_message_id, a_run, a_run_id, a_session_id, a_task, a_wait, at

BOB = AgentName("bob")


class TasksContract:
    """Fixture: `open_store`."""

    async def test_a_task_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        task = a_task(state=TaskState.FAILED)._replace(
            updated_at=at(5),
            delegator_session=a_session_id(3),
            parent=a_message_id(9),
            scope=Scope("s"),
            deadline=at(60),
            claimed_by=a_session_id(4),
            attempt=2,
            abandoned_at=at(7),
            is_told=True,
            reason="it did not work",
            progress=a_message_id(10),
            result=a_message_id(11),
            finished_at=at(8),
        )
        found = await kept(open_store, lambda tx: tx.tasks.put(task), lambda tx: tx.tasks.get(task.id))
        assert found == task

    async def test_a_task_that_nobody_handed_over_is_none(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: tx.tasks.put(a_task(1)), lambda tx: tx.tasks.get(a_message_id(2)))
        assert found is None

    async def test_pending_are_the_first_that_no_session_has_as_they_were_first_put(
        self, open_store: OpenStore
    ) -> None:
        tasks = [a_task(n) for n in (3, 1, 2)]
        others = [
            a_task(4, claimed_by=a_session_id()),
            a_task(5, state=TaskState.WORKING),
            a_task(6, state=TaskState.REJECTED),
            a_task(7, agent="eve"),
        ]
        again = tasks[0]._replace(updated_at=at(9))
        found = await kept(
            open_store, lambda tx: each(tx.tasks.put, *others, *tasks, again), lambda tx: tx.tasks.pending(BOB, 2)
        )
        assert [*found] == [again, tasks[1]]

    async def test_held_are_those_that_take_a_place_of_the_quota(self, open_store: OpenStore) -> None:
        held = [
            a_task(1, state=TaskState.WORKING, claimed_by=a_session_id()),
            a_task(2, claimed_by=a_session_id()),
            a_task(3, state=TaskState.ACCEPTED),
        ]
        others = [a_task(4), a_task(5, state=TaskState.COMPLETED), a_task(6, agent="eve", state=TaskState.WORKING)]

        async def look(tx: Transaction) -> tuple[list[Task], list[Task], int]:
            return [*await tx.tasks.held(BOB)], [*await tx.tasks.all_held()], await tx.tasks.places(BOB)

        found = await kept(open_store, lambda tx: each(tx.tasks.put, *others, *held), look)
        assert found == (held, [*held, others[2]], 3)
        assert all(task.is_held for task in (*held, others[2]))
        assert not any(task.is_held for task in others[:2])

    async def test_left_are_the_first_that_sessions_which_have_ended_had(self, open_store: OpenStore) -> None:
        left = [a_task(n, state=TaskState.WORKING)._replace(abandoned_at=at(9 - n), is_told=n == 2) for n in (1, 2, 3)]
        others = [a_task(4, state=TaskState.WORKING), a_task(5), a_task(6, agent="eve")._replace(abandoned_at=at(1))]
        found = await kept(open_store, lambda tx: each(tx.tasks.put, *others, *left), lambda tx: tx.tasks.left(BOB, 2))
        assert [*found] == left[:2]

    async def test_a_session_has_what_it_claimed_until_that_is_let_go(self, open_store: OpenStore) -> None:
        mine, other = a_session_id(1), a_session_id(2)
        tasks = [a_task(2, claimed_by=mine), a_task(1, claimed_by=mine, state=TaskState.WORKING)]
        others = [a_task(3, claimed_by=other), a_task(4), a_task(5, claimed_by=mine)]
        left = others[2]._replace(claimed_by=None)
        found = await kept(
            open_store, lambda tx: each(tx.tasks.put, *tasks, *others, left), lambda tx: tx.tasks.of_session(mine)
        )
        assert [*found] == tasks

    async def test_due_are_the_unfinished_whose_deadline_came_by_deadline(self, open_store: OpenStore) -> None:
        late = a_task(1, deadline=at(5))
        later = a_task(2, deadline=at(3), state=TaskState.WORKING)
        just = a_task(3, deadline=at(10), state=TaskState.ACCEPTED)
        others = [a_task(4, deadline=at(11)), a_task(5), a_task(6, deadline=at(1), state=TaskState.COMPLETED)]

        async def look(tx: Transaction) -> list[list[Task]]:
            return [[*await tx.tasks.due(at(10), 9)], [*await tx.tasks.due(at(10), 2)], [*await tx.tasks.due(at(2), 9)]]

        found = await kept(open_store, lambda tx: each(tx.tasks.put, late, later, just, *others), look)
        assert found == [[later, late, just], [later, late], []]

    async def test_untold_are_the_abandoned_whose_delegator_does_not_know_it(self, open_store: OpenStore) -> None:
        left = a_task(1, state=TaskState.WORKING)._replace(abandoned_at=at(3))
        told = a_task(2, state=TaskState.WORKING)._replace(abandoned_at=at(2), is_told=True)
        more = a_task(3, state=TaskState.ACCEPTED)._replace(abandoned_at=at(1))

        async def look(tx: Transaction) -> list[list[Task]]:
            return [[*await tx.tasks.untold(9)], [*await tx.tasks.untold(1)]]

        found = await kept(open_store, lambda tx: each(tx.tasks.put, left, told, more, a_task(4)), look)
        assert found == [[left, more], [left]]

    async def test_children_are_those_whose_parent_it_is_finished_or_not(self, open_store: OpenStore) -> None:
        parent = a_message_id(1)
        children = [a_task(3, parent=parent, state=TaskState.COMPLETED), a_task(2, parent=parent)]
        others = [a_task(1), a_task(4, parent=a_message_id(3))]
        found = await kept(
            open_store, lambda tx: each(tx.tasks.put, *children, *others), lambda tx: tx.tasks.children(parent)
        )
        assert [*found] == children

    async def test_the_last_that_fit_are_found_as_they_were_first_put(self, open_store: OpenStore) -> None:
        one = a_task(1, state=TaskState.COMPLETED)
        two = a_task(2, agent="eve")._replace(scope=Scope("s"))
        three = a_task(3, delegator="carl")
        four = a_task(4)._replace(scope=Scope("s"))

        async def look(tx: Transaction) -> list[list[Task]]:
            wanted = [
                TaskFilter(),
                TaskFilter(agent=BOB),
                TaskFilter(delegator=AgentName("alice")),
                TaskFilter(scope=Scope("s")),
                TaskFilter(is_finished=True),
                TaskFilter(is_finished=False),
                TaskFilter(agent=BOB, is_finished=False, delegator=AgentName("alice")),
            ]
            return [[*await tx.tasks.find(each_wanted, 2)] for each_wanted in wanted]

        found = await kept(open_store, lambda tx: each(tx.tasks.put, one, two, three, four), look)
        assert found == [
            [three, four],
            [three, four],
            [two, four],
            [two, four],
            [one],
            [three, four],
            [four],
        ]


ALICE = AgentName("alice")


class RunsContract:
    """Fixture: `open_store`."""

    async def test_a_run_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        run = a_run(state=RunState.TIMED_OUT, folder="/runs/1", is_told=False)._replace(
            mode=RunMode.SESSION,
            launcher=LauncherKind.PYTHON,
            sibling_of=a_session_id(7),
            label=Label("security"),
            description="Looks for holes",
            time_limit=12.5,
            thread=Callback("ops", "c-1"),
            stage=Stage.RETURN,
            stop_reason="enough",
            reason="it took longer than 12.5 s",
        )
        found = await kept(open_store, lambda tx: tx.runs.put(run), lambda tx: tx.runs.get(run.id))
        assert found == run

    async def test_a_run_that_nobody_started_is_none(self, open_store: OpenStore) -> None:
        async def look(tx: Transaction) -> tuple[Run | None, Run | None]:
            return await tx.runs.get(a_run_id(2)), await tx.runs.of_session(a_session_id(102))

        assert await kept(open_store, lambda tx: tx.runs.put(a_run(1)), look) == (None, None)

    async def test_a_session_has_its_run_also_when_it_has_ended(self, open_store: OpenStore) -> None:
        ended = a_run(2, state=RunState.COMPLETED)
        found = await kept(
            open_store, lambda tx: each(tx.runs.put, a_run(1), ended), lambda tx: tx.runs.of_session(ended.session)
        )
        assert found == ended

    async def test_children_stand_as_they_were_first_put_whether_they_have_ended_or_not(
        self, open_store: OpenStore
    ) -> None:
        first, second = a_run(3, state=RunState.LOST), a_run(1)
        again = first._replace(reason="its process is gone")
        others = a_run(2, parent=2), a_run(4, parent=None)
        found = await kept(
            open_store,
            lambda tx: each(tx.runs.put, first, *others, second, again),
            lambda tx: tx.runs.children(a_session_id(1)),
        )
        assert [*found] == [again, second]

    async def test_alive_are_the_children_of_all_sessions_of_an_agent_that_have_not_ended(
        self, open_store: OpenStore
    ) -> None:
        runs = [
            a_run(1),
            a_run(2, state=RunState.STARTING),
            a_run(3, state=RunState.STOPPED),
            a_run(4, parent=2),
            a_run(5, parent=None),
            a_run(6, parent=None, parent_agent="eve"),
        ]

        async def look(tx: Transaction) -> list[int]:
            return [await tx.runs.alive(AgentName(name)) for name in ("alice", "eve", "bob")]

        assert await kept(open_store, lambda tx: each(tx.runs.put, *runs), look) == [4, 1, 0]

    async def test_one_that_ends_is_not_alive_any_more(self, open_store: OpenStore) -> None:
        run = a_run(1)
        over = run._replace(state=RunState.FAILED, ended_at=at(3))
        found = await kept(open_store, lambda tx: each(tx.runs.put, run, over), lambda tx: tx.runs.alive(ALICE))
        assert found == 0

    async def test_untold_are_the_first_that_ended_without_their_parents_knowing(self, open_store: OpenStore) -> None:
        untold = [a_run(n, state=RunState.LOST, is_told=False) for n in (3, 1, 2)]
        others = [a_run(4, is_told=False), a_run(5, state=RunState.LOST)]
        found = await kept(open_store, lambda tx: each(tx.runs.put, *others, *untold), lambda tx: tx.runs.untold(2))
        assert [*found] == untold[:2]

    async def test_uncleared_are_the_first_that_ended_and_have_a_folder(self, open_store: OpenStore) -> None:
        uncleared = [a_run(n, state=RunState.COMPLETED, folder=f"/runs/{n}") for n in (3, 1, 2)]
        others = [a_run(4, folder="/runs/4"), a_run(5, state=RunState.COMPLETED)]
        found = await kept(
            open_store, lambda tx: each(tx.runs.put, *others, *uncleared), lambda tx: tx.runs.uncleared(2)
        )
        assert [*found] == uncleared[:2]

    async def test_find_gives_the_last_that_fit_in_the_order_in_which_they_were_put(
        self, open_store: OpenStore
    ) -> None:
        runs = [
            a_run(1),
            a_run(2, agent="carol"),
            a_run(3, state=RunState.COMPLETED),
            a_run(4, parent_agent="eve"),
        ]

        async def look(tx: Transaction) -> list[list[Run]]:
            wanted = [
                RunFilter(),
                RunFilter(agent=AgentName("bob")),
                RunFilter(parent_agent=ALICE),
                RunFilter(has_ended=False),
                RunFilter(has_ended=True),
            ]
            return [[*await tx.runs.find(one, 2)] for one in wanted]

        _, second, third, fourth = runs
        assert await kept(open_store, lambda tx: each(tx.runs.put, *runs), look) == [
            [third, fourth],
            [third, fourth],
            [second, third],
            [second, fourth],
            [third],
        ]


class WaitsContract:
    """Fixture: `open_store`."""

    async def test_a_wait_comes_back_as_it_was_put(self, open_store: OpenStore) -> None:
        for wait in (a_wait(), Wait(ALICE, a_message_id(3), None, at(0.5), at(99.5), False, True)):
            found = await kept(
                open_store, lambda tx, wait=wait: tx.waits.put(wait), lambda tx, wait=wait: tx.waits.of(wait.asker)
            )
            assert wait in found

    async def test_waiting_for_the_same_thing_again_replaces_the_first(self, open_store: OpenStore) -> None:
        again = a_wait()._replace(session=None, until=at(500))
        found = await kept(open_store, lambda tx: each(tx.waits.put, a_wait(), again), lambda tx: tx.waits.of(ALICE))
        assert [*found] == [again]

    async def test_each_agent_has_its_own_by_what_it_waits_for(self, open_store: OpenStore) -> None:
        waits = [a_wait(2), a_wait(1), a_wait(1, asker="bob"), a_wait(3, asker="al")]

        async def look(transaction: Transaction) -> list[list[Wait]]:
            return [[*await transaction.waits.of(AgentName(name))] for name in ("alice", "bob", "carol")]

        found = await kept(open_store, lambda tx: each(tx.waits.put, *waits), look)
        assert found == [[waits[1], waits[0]], [waits[2]], []]

    async def test_all_are_given_by_agent_then_by_what_they_wait_for(self, open_store: OpenStore) -> None:
        waits = [a_wait(2), a_wait(1), a_wait(1, asker="bob"), a_wait(3, asker="al")]
        found = await kept(open_store, lambda tx: each(tx.waits.put, *waits), lambda tx: tx.waits.all())
        assert [*found] == [waits[3], waits[1], waits[0], waits[2]]

    async def test_a_wait_is_removed_alone_and_twice_without_harm(self, open_store: OpenStore) -> None:
        async def write(transaction: Transaction) -> None:
            await each(transaction.waits.put, a_wait(1), a_wait(2), a_wait(1, asker="bob"))
            for _ in range(2):
                await transaction.waits.remove(ALICE, a_wait(1).what)

        assert [*await kept(open_store, write, lambda tx: tx.waits.all())] == [a_wait(2), a_wait(1, asker="bob")]
