"""Open spaces: the entry point of the Python API."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Literal, Self

from covey.core.checks import choice, count, flag, instance, items, note, pid, place, text
from covey.core.checks import lease as parse_lease
from covey.core.directory.capacity import DEFAULT_CAPACITY, PEERS_CAPACITY, Capacity, Overflow, parse_capacity
from covey.core.directory.card import Card, check_card, parse_card
from covey.core.directory.session import SessionKind
from covey.core.ids import JOURNAL_TOPIC, parse_message_id, parse_session_id
from covey.core.json import Json
from covey.core.ledger.event import Event
from covey.core.ledger.gate import Verdict
from covey.core.ledger.message import Message
from covey.core.limits import PRESENCE_LEASE
from covey.core.names import known_scope, parse_agent_name, parse_label
from covey.core.store_url import StoreUrl
from covey.engines import locate
from covey.ports.ledger import EventFilter
from covey.runtime.opening import OpenSpace
from covey.services.care.history import Found
from covey.services.directory.directory import AgentView, JoinRequest
from covey.services.space import Services
from covey.surfaces.python.carrying import TellPost, carry_posts
from covey.surfaces.python.member import Member
from covey.surfaces.python.receipt import Receipt

FOLLOW_SECONDS = 3600.0
PAGE = 500


class Space:
    """A set of agents that can see each other, with one store. Use as `async with covey.open() as space`."""

    def __init__(self, url: StoreUrl, roots: Sequence[str], *, create: bool = True) -> None:
        self._open = OpenSpace(url, roots, create=create)

    @property
    def url(self) -> str:
        return str(self._open.url)

    @property
    def services(self) -> Services:
        """The services behind this class, for programs that need more than its methods."""
        return self._open.services

    async def __aenter__(self) -> Self:
        await self._open.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.__aexit__(kind, error, trace)

    async def join(
        self,
        name: str | None = None,
        *,
        token: str | None = None,
        card: Card | Mapping[str, Json] | None = None,
        label: str | None = None,
        session_id: str | None = None,
        kind: Literal["attached", "client", "leased"] = "attached",
        client_pid: int | None = None,
        inbox_limit: int | None = None,
        inbox_overflow: Literal["hold", "evict-oldest", "first-in-first-out"] | None = None,
        lease: timedelta = PRESENCE_LEASE,
    ) -> Member:
        """Start a session of the agent `name`, or of a new agent with an automatic name. Its inbox has the mail that
        waited for the agent.

        With the agent's `token` the member has the grade token, and only the rights of the token.
        """
        wish = JoinRequest(
            name=parse_agent_name(name) if name is not None else None,
            card=None if card is None else check_card(card) if isinstance(card, Card) else parse_card(card),
            kind=choice(SessionKind, kind, "kind"),
            session_id=parse_session_id(session_id) if session_id is not None else None,
            label=parse_label(label) if label is not None else None,
            client_pid=None if client_pid is None else pid(client_pid),
            capacity=_capacity(inbox_limit, inbox_overflow),
            lease=parse_lease(lease),
        )
        joined, services = await self._open.join(wish, None if token is None else text(token, "token"))
        return Member(joined, services, self._open.finisher)

    async def agents(self) -> Sequence[AgentView]:
        """Return every agent as of now: its card, and its presence (idle, busy or offline)."""
        return await self.services.directory.agents()

    async def agent(self, name: str) -> AgentView:
        """Return one agent as of now."""
        return await self.services.directory.agent(parse_agent_name(name))

    async def thread(self, message_id: str) -> Sequence[Message]:
        """Return all messages of the thread that a message is in."""
        return await self.services.dialogue.thread(parse_message_id(message_id))

    async def gate(self, scope: str) -> Verdict:
        """Return the gate's verdict on a scope: passed, or the open debts."""
        return await self.services.dialogue.gate(known_scope(scope))

    async def receipt(self, message_id: str) -> Receipt:
        """Return the receipt of a message."""
        return Receipt(await self.services.mail.receipt(parse_message_id(message_id)), self.services.mail)

    async def search(self, words: str, limit: int = 20) -> Sequence[Found]:
        """Return the messages that contain all the words, best match first."""
        return await self.services.history.search(note(words, "words"), count(limit, "limit"))

    async def carry_posts(
        self, channels: str | Collection[str] = (), *, once: bool = False, tell: TellPost | None = None
    ) -> bool:
        """Carry the posts of these channels, or of all, to the people there. Continue with new posts until cancelled.

        With `once`, carry the posts that are due now, and return whether all of them were delivered; the rest is
        retried later. A console writes to stdout. `tell` is called after each attempt. A busy space is tried again,
        with a line in the log. Any number of programs may carry the posts of a channel: each post is taken by one.
        """
        return await carry_posts(self.services, channels, once, tell)

    async def journal(
        self, after: int = 0, *, wanted: EventFilter | None = None, follow: bool = False
    ) -> AsyncIterator[Event]:
        """Yield the events after a position, oldest first. With `follow`, wait for new events and yield them too."""
        count(after, "position", at_least=0)
        flag(follow, "follow")
        if wanted is not None:
            instance(EventFilter, wanted, "filter", "use an EventFilter")

        async def look() -> Sequence[Event] | None:
            return await self.services.history.read(after, PAGE, wanted) or None

        while True:
            page = await self.services.onlooking.until([JOURNAL_TOPIC], look, FOLLOW_SECONDS if follow else 0)
            for event in page or ():
                yield event
                after = event.position
            if not page and not follow:
                return


def _capacity(limit: int | None, overflow: str | None) -> Capacity | None:
    """Return the capacity of an inbox, or None for the capacity on the agent's card. The peers policy has its own
    default limit."""
    if limit is None and overflow is None:
        return None
    usual = PEERS_CAPACITY if overflow == Overflow.FIRST_IN_FIRST_OUT else DEFAULT_CAPACITY
    return parse_capacity(usual.limit if limit is None else limit, usual.overflow if overflow is None else overflow)


def open(url: str | None = None, *, roots: Sequence[str] | None = None, create: bool = True) -> Space:
    """Return the space at `url`, to be entered with `async with`.

    Without a URL: the nearest .covey/covey.db from the working directory upwards, else the one in the home directory.
    `roots` are the folders that files may be attached from; by default the working directory. A space that does not
    exist is created; without `create`, SpaceMissing is raised.
    """
    named = ["."] if roots is None else [place(one) for one in items(roots, "roots", "use a list of folders")]
    return Space(locate(None if url is None else place(url)), named, create=flag(create, "create"))
