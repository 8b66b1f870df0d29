"""Contract of retention: threads as a whole, scopes, and files."""

from covey.core.channels.post import PostState
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import FilePart, Kind, TextPart
from covey.core.ledger.ticket import TicketState
from covey.core.names import MessageId, Scope
from covey.core.work.run import Run, RunState
from covey.core.work.task import TaskState
from covey.ports.pruning import ThreadState
from covey.ports.store import Transaction
from covey.testing.contracts.messages import add
from covey.testing.contracts.tables import each, kept
from covey.testing.factories import OpenStore, silent
from covey.testing.records import a_delivery, a_message, a_message_id, a_post, a_run, a_task, a_ticket, at

HANDLED = DeliveryState.HANDLED
FIRST, SECOND, THIRD = (a_message_id(n) for n in (1, 2, 3))


async def all_threads(tx: Transaction, scope: Scope | None, limit: int) -> list[list[MessageId]]:
    """Return all pages of the threads from before the third minute."""
    pages: list[list[MessageId]] = []
    after: int | None = 0
    while after is not None:
        page = await tx.retention.threads(scope, at(180), after, limit)
        pages.append([*page.items])
        after = page.after
    return pages


class RetentionContract:
    """Fixture: `open_store`."""

    async def test_scopes_come_by_name_each_once_from_one_on(self, open_store: OpenStore) -> None:
        messages = [a_message(n, scope=scope) for n, scope in enumerate(["b", "a", None, "c", "a", "d"], 1)]

        async def look(tx: Transaction) -> list[list[Scope]]:
            return [[*await tx.retention.scopes(after, limit)] for after, limit in (("", 10), ("a", 2), ("d", 10))]

        found = await kept(open_store, lambda tx: add(tx, *messages), look)
        assert found == [["a", "b", "c", "d"], ["b", "c"], []]

    async def test_threads_of_a_scope_come_in_pages_and_without_what_is_younger(self, open_store: OpenStore) -> None:
        messages = [
            a_message(1, scope="s"),
            a_message(2, scope="s", thread=FIRST),
            a_message(3, scope="other"),
            a_message(4, scope="s"),
            a_message(5, scope="s", created_at=at(180)),
            a_message(6),
            a_message(7, thread=FIRST),
        ]

        async def look(tx: Transaction) -> list[list[list[MessageId]]]:
            return [await all_threads(tx, scope, 2) for scope in (Scope("s"), None, Scope("none"))]

        of_scope, without, of_none = await kept(open_store, lambda tx: add(tx, *messages), look)
        assert [thread for page in of_scope for thread in page] == [FIRST, a_message_id(4)]
        assert [thread for page in without for thread in page] == [a_message_id(6), FIRST]
        assert of_none == [[]]

    async def test_the_state_of_a_thread_counts_all_of_it(self, open_store: OpenStore) -> None:
        async def write(tx: Transaction) -> None:
            await add(
                tx,
                a_message(1, kind=Kind.REQUEST, scope="s"),
                a_message(2, scope="t", thread=FIRST, created_at=at(5)),
                a_message(3),
            )
            waiting = [
                a_delivery(1, state=HANDLED),
                a_delivery(2, 1, state=DeliveryState.QUEUED),
                a_delivery(2, 2, state=DeliveryState.OFFERED),
                a_delivery(2, 3, state=DeliveryState.IN_CONTEXT),
                a_delivery(3, state=DeliveryState.EXPIRED)._replace(updated_at=at(7), archived_at=at(9)),
            ]
            await each(tx.deliveries.place, *waiting)
            await tx.tickets.put(a_ticket(1, state=TicketState.ANSWERED, opened_at=at(6)))

        async def look(tx: Transaction) -> list[ThreadState | None]:
            return [await tx.retention.state(thread) for thread in (FIRST, SECOND, THIRD)]

        busy, none, quiet = await kept(open_store, write, look)
        assert busy == ThreadState(2, 3, 1, at(6), frozenset({Scope("s"), Scope("t")}))
        assert none is None  # SECOND is a message within a thread, and no thread itself
        assert quiet == ThreadState(1, 0, 0, at(9), frozenset())

    async def test_a_closed_ticket_counts_by_its_end(self, open_store: OpenStore) -> None:
        async def write(tx: Transaction) -> None:
            await add(tx, a_message(1))
            await tx.tickets.put(a_ticket(1, state=TicketState.CLOSED)._replace(closed_at=at(8)))

        state = await kept(open_store, write, lambda tx: tx.retention.state(FIRST))
        assert state == ThreadState(1, 0, 0, at(8), frozenset())

    async def test_what_is_still_to_be_posted_waits(self, open_store: OpenStore) -> None:
        async def write(tx: Transaction) -> None:
            await add(tx, a_message(1), a_message(2))
            await each(tx.deliveries.place, *(a_delivery(n, state=HANDLED) for n in (1, 2)))
            await each(tx.posts.put, a_post(1), a_post(2, state=PostState.DELIVERED))

        async def look(tx: Transaction) -> list[ThreadState | None]:
            return [await tx.retention.state(thread) for thread in (FIRST, SECOND)]

        found = await kept(open_store, write, look)
        assert [state and state.waiting for state in found] == [1, 0]

    async def test_the_state_of_a_thread_counts_its_tasks(self, open_store: OpenStore) -> None:
        async def write(tx: Transaction) -> None:
            await add(
                tx, *(a_message(n, kind=Kind.TASK, thread=FIRST) for n in (1, 2, 3)), a_message(4, kind=Kind.TASK)
            )
            await tx.tasks.put(a_task(1, state=TaskState.COMPLETED)._replace(updated_at=at(3)))
            await tx.tasks.put(a_task(2, state=TaskState.WORKING)._replace(updated_at=at(8)))
            await tx.tasks.put(a_task(4, state=TaskState.REJECTED)._replace(updated_at=at(9)))

        async def look(tx: Transaction) -> list[ThreadState | None]:
            return [await tx.retention.state(thread) for thread in (FIRST, a_message_id(4))]

        busy, quiet = await kept(open_store, write, look)
        assert busy is not None
        assert quiet is not None
        assert busy == ThreadState(3, 0, 0, at(8), frozenset(), tasks=2, unfinished=1)
        assert quiet == ThreadState(1, 0, 0, at(9), frozenset(), tasks=1, unfinished=0)
        assert busy.is_open
        assert not quiet.is_open

    async def test_the_state_of_a_thread_counts_the_children_that_it_began(self, open_store: OpenStore) -> None:
        async def write(tx: Transaction) -> None:
            await add(tx, *(a_message(n, kind=Kind.REQUEST, thread=FIRST) for n in (1, 2, 3, 4)), a_message(5))
            await tx.runs.put(a_run(1))
            await tx.runs.put(a_run(2, state=RunState.LOST, is_told=False))
            await tx.runs.put(a_run(3, state=RunState.FAILED, folder="/runs/3"))
            await each(tx.runs.put, a_run(4, state=RunState.COMPLETED), a_run(5, state=RunState.STOPPED))

        async def look(tx: Transaction) -> list[ThreadState | None]:
            return [await tx.retention.state(thread) for thread in (FIRST, a_message_id(5))]

        busy, quiet = await kept(open_store, write, look)
        assert busy is not None
        assert quiet is not None
        assert busy == ThreadState(4, 0, 0, at(9), frozenset(), runs=4, running=3)
        assert quiet == ThreadState(1, 0, 0, at(9), frozenset(), runs=1, running=0)
        assert busy.is_open
        assert not quiet.is_open

    async def test_a_task_is_held_by_what_it_is_a_part_of_and_by_its_parts(self, open_store: OpenStore) -> None:
        """Each task is in a thread of its own. Task 1 has the parts 2 and 3, task 2 has 4, and task 4 has 5."""
        parents = {2: FIRST, 3: FIRST, 4: SECOND, 5: a_message_id(4)}

        async def put(tx: Transaction, unfinished: int) -> None:
            for n in range(1, 6):
                state = TaskState.ACCEPTED if n == unfinished else TaskState.COMPLETED
                await tx.tasks.put(a_task(n, state=state, parent=parents.get(n)))

        async def held(tx: Transaction) -> list[int]:
            states = [(n, await tx.retention.state(a_message_id(n))) for n in range(1, 6)]
            return [n for n, state in states if state is not None and state.unfinished]

        async with open_store(silent) as store:
            await store.commit(lambda tx: add(tx, *(a_message(n, kind=Kind.TASK) for n in range(1, 6))))
            for unfinished, expected in (
                (1, [1, 2, 3, 4, 5]),
                (2, [1, 2, 4, 5]),
                (3, [1, 3]),
                (5, [1, 2, 4, 5]),
                (0, []),
            ):
                await store.commit(lambda tx, n=unfinished: put(tx, n))
                assert await store.read(held) == expected

    async def test_the_newest_messages_of_a_thread_come_first(self, open_store: OpenStore) -> None:
        messages = [a_message(1), a_message(3, thread=FIRST), a_message(2, thread=FIRST), a_message(4)]

        async def look(tx: Transaction) -> list[list[MessageId]]:
            return [[*await tx.retention.newest(FIRST, limit)] for limit in (2, 10)]

        found = await kept(open_store, lambda tx: add(tx, *messages), look)
        assert found == [[SECOND, THIRD], [SECOND, THIRD, FIRST]]

    async def test_files_come_in_pages_by_their_digests(self, open_store: OpenStore) -> None:
        def with_files(n: int, *digests: str):
            parts = (TextPart('"digest": "text"'), *(FilePart("a.txt", digest * 64, 1) for digest in digests))
            return a_message(n)._replace(parts=parts)

        messages = [with_files(1, "a", "b"), with_files(2), with_files(3, "a"), with_files(4, "c"), a_message(5)]

        async def look(tx: Transaction) -> list[str]:
            found: list[str] = []
            after: int | None = 0
            while after is not None:
                page = await tx.retention.files(after, 2)
                found += page.items
                after = page.after
            return found

        found = await kept(open_store, lambda tx: add(tx, *messages), look)
        assert set(found) == {"a" * 64, "b" * 64, "c" * 64}

    async def test_runs_that_are_over_and_were_never_asked_anything_come_in_their_order(
        self, open_store: OpenStore
    ) -> None:
        over, later, asked, young, uncleared, untold, going = (
            a_run(1, state=RunState.FAILED, ended_at=at(1)),
            a_run(7, state=RunState.LOST, ended_at=at(2)),
            a_run(2, state=RunState.FAILED, ended_at=at(1)),
            a_run(3, state=RunState.FAILED, ended_at=at(60)),
            a_run(4, state=RunState.FAILED, ended_at=at(1), folder="/runs/4"),
            a_run(5, state=RunState.LOST, ended_at=at(1), is_told=False),
            a_run(6, state=RunState.STARTING),
        )

        async def write(tx: Transaction) -> None:
            await add(tx, a_message(2))
            await each(tx.runs.put, over, asked, young, uncleared, untold, going, later)

        async def look(tx: Transaction) -> list[list[Run]]:
            return [[*await tx.retention.unasked(at(60), limit)] for limit in (10, 1)]

        assert await kept(open_store, write, look) == [[over, later], [over]]
