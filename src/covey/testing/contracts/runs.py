"""Contract of runs."""

from covey.core.message import Callback
from covey.core.names import AgentName, Label
from covey.core.run import LauncherKind, Run, RunMode, RunState, Stage
from covey.ports.runs import RunFilter
from covey.ports.store import Transaction
from covey.testing.contracts.kept import each, kept
from covey.testing.opening import OpenStore
from covey.testing.records import a_run, a_run_id, a_session_id, at

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
