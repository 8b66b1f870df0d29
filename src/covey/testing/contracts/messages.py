"""Contract of messages."""

from covey.core.identity import EVERYONE, Grade, Identity, parse_address
from covey.core.ledger.marks import Marks, Step
from covey.core.ledger.message import Callback, DataPart, FilePart, Kind, Message, TaskRef, TextPart
from covey.core.ledger.wire import encode
from covey.core.names import AgentName, Scope, Subject
from covey.ports.ledger import MessageFilter
from covey.ports.store import Transaction
from covey.testing.contracts.tables import kept
from covey.testing.factories import OpenStore, silent
from covey.testing.records import a_message, a_message_id, a_session_id, at

FULL = a_message(3, kind=Kind.REQUEST, subject="missing-test", scope="sprint.7", thread=a_message_id(1))._replace(
    sender=Identity(AgentName("alice"), a_session_id(4), Grade.SESSION),
    to=(parse_address("bob"), EVERYONE, parse_address(a_session_id(9))),
    parts=(
        TextPart("line one\nline two ä 語 🐦 \u0000"),
        DataPart({"list": [1, 2.5, None, True, {"deep": "x"}]}),
        FilePart("a.txt", "0" * 64, 12, "text/plain", "/tmp/a.txt"),
    ),
    created_at=at(1.000001),
    round=2,
    cause=a_message_id(1),
    in_reply_to=a_message_id(2),
    correlation_id=a_session_id(5),
    trace=(AgentName("eve"), AgentName("alice")),
    task=TaskRef("t-1", "working"),
    callback=Callback("chat", "42"),
    deadline=at(60),
    expires_at=at(3600),
    traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    metadata={"x-foreign": [1, {"a": None}]},
    marks=Marks("talk a b", AgentName("bob"), Step.ROUND, person="ann", run="r-1", foreign_id=""),
)


async def add(transaction: Transaction, *messages: Message) -> None:
    """File messages in turn."""
    for message in messages:
        await transaction.messages.add(message, encode(message))


class MessagesContract:
    """Fixture: `open_store`."""

    async def test_a_message_comes_back_as_it_was_filed(self, open_store: OpenStore) -> None:
        assert await kept(open_store, lambda tx: add(tx, FULL), lambda tx: tx.messages.get(FULL.id)) == FULL

    async def test_a_message_that_nobody_filed_is_none(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: add(tx, a_message(1)), lambda tx: tx.messages.get(a_message_id(2)))
        assert found is None

    async def test_a_thread_is_given_in_the_order_of_acceptance(self, open_store: OpenStore) -> None:
        first = a_message(5, created_at=at(5))
        replies = [a_message(n, thread=first.id, created_at=at(n)) for n in (9, 2)]
        found = await kept(
            open_store,
            lambda tx: add(tx, first, a_message(7), *replies),
            lambda tx: tx.messages.thread(first.id),
        )
        assert [*found] == [first, *replies]

    async def test_a_thread_that_nobody_began_is_empty(self, open_store: OpenStore) -> None:
        found = await kept(open_store, lambda tx: add(tx, a_message(1)), lambda tx: tx.messages.thread(a_message_id(2)))
        assert [*found] == []

    async def test_the_latest_of_a_pair_is_the_one_accepted_last(self, open_store: OpenStore) -> None:
        began, other = Marks("talk a b"), Marks("talk a c")
        messages = [a_message(n, created_at=at(n))._replace(marks=began) for n in (4, 1, 3)]
        messages += [a_message(7)._replace(marks=other), a_message(8)._replace(marks=Marks(step=Step.ROUND))]
        found = await kept(open_store, lambda tx: add(tx, *messages), lambda tx: tx.messages.latest_of("talk a b"))
        assert found == messages[2]

    async def test_a_pair_that_nothing_began_has_no_latest(self, open_store: OpenStore) -> None:
        named = a_message(1, subject="talk-a-b")._replace(metadata={"pair": "talk a b"})
        found = await kept(open_store, lambda tx: add(tx, named), lambda tx: tx.messages.latest_of("talk a b"))
        assert found is None

    async def test_find_gives_the_newest_with_the_oldest_of_them_first(self, open_store: OpenStore) -> None:
        messages = [a_message(n, created_at=at(n)) for n in (4, 1, 3, 2)]
        found = await kept(open_store, lambda tx: add(tx, *messages), lambda tx: tx.messages.find(MessageFilter(), 3))
        assert [*found] == messages[1:]

    async def test_find_gives_what_fits_every_wish(self, open_store: OpenStore) -> None:
        wanted = a_message(1, kind=Kind.REQUEST, sender="eve", scope="s", subject="topic", created_at=at(10))
        others = [
            wanted._replace(id=a_message_id(2), scope=Scope("t")),
            wanted._replace(id=a_message_id(3), scope=None),
            wanted._replace(id=a_message_id(4), subject=Subject("other")),
            wanted._replace(id=a_message_id(5), kind=Kind.TASK),
            wanted._replace(id=a_message_id(6), sender=Identity(AgentName("alice"))),
            wanted._replace(id=a_message_id(7), created_at=at(9.999999)),
        ]
        wish = MessageFilter(Scope("s"), Subject("topic"), Kind.REQUEST, AgentName("eve"), at(9.999999))
        found = await kept(open_store, lambda tx: add(tx, wanted, *others), lambda tx: tx.messages.find(wish, 10))
        assert [*found] == [wanted]

    async def test_one_wish_leaves_the_rest_open(self, open_store: OpenStore) -> None:
        messages = [
            a_message(1, scope="s"),
            a_message(2, scope="s", kind=Kind.TASK),
            a_message(3, scope="t", kind=Kind.TASK),
            a_message(4, kind=Kind.TASK, sender="eve", created_at=at(9)),
        ]

        async def look(transaction: Transaction) -> list[list[Message]]:
            wishes = (
                MessageFilter(scope=Scope("s")),
                MessageFilter(kind=Kind.TASK),
                MessageFilter(sender=AgentName("eve")),
                MessageFilter(since=at(1)),
            )
            return [[*await transaction.messages.find(wish, 10)] for wish in wishes]

        found = await kept(open_store, lambda tx: add(tx, *messages), look)
        assert found == [messages[:2], messages[1:], messages[3:], messages[3:]]

    async def test_a_swept_scope_is_counted_once(self, open_store: OpenStore) -> None:
        messages = [a_message(1, scope="s"), a_message(2, scope="s"), a_message(3, scope="t"), a_message(4)]

        async def sweep(transaction: Transaction) -> list[int]:
            await add(transaction, *messages)
            counts = [await transaction.messages.sweep(Scope(scope)) for scope in ("s", "s", "u")]
            await add(transaction, a_message(5, scope="s"))
            return [*counts, await transaction.messages.sweep(Scope("s"))]

        async with open_store(silent) as store:
            assert await store.commit(sweep) == [2, 0, 0, 1]

    async def test_one_that_was_swept_elsewhere_is_not_counted(self, open_store: OpenStore) -> None:
        async def file(transaction: Transaction) -> None:
            for n, is_swept in ((1, True), (2, False), (3, True)):
                message = a_message(n, scope="s")
                await transaction.messages.add(message, encode(message), is_swept=is_swept)

        async with open_store(silent) as store:
            await store.commit(file)
            assert await store.commit(lambda tx: tx.messages.sweep(Scope("s"))) == 1

    async def test_a_message_tells_whether_it_is_swept(self, open_store: OpenStore) -> None:
        messages = [a_message(1, scope="s"), a_message(2, scope="t")]

        async def write(transaction: Transaction) -> None:
            await add(transaction, *messages)
            await transaction.messages.sweep(Scope("s"))
            await add(transaction, a_message(3, scope="s"))

        async def look(transaction: Transaction) -> list[bool]:
            return [await transaction.messages.is_swept(a_message(n).id) for n in (1, 2, 3, 4)]

        assert await kept(open_store, write, look) == [True, False, False, False]

    async def test_swept_messages_are_still_read(self, open_store: OpenStore) -> None:
        message = a_message(scope="s")

        async def write(transaction: Transaction) -> None:
            await add(transaction, message)
            await transaction.messages.sweep(Scope("s"))

        async def look(transaction: Transaction) -> list[Message | None]:
            return [
                await transaction.messages.get(message.id),
                *await transaction.messages.thread(message.id),
                *await transaction.messages.find(MessageFilter(scope=Scope("s")), 10),
            ]

        assert await kept(open_store, write, look) == [message] * 3
