"""Open spaces: the entry point of the Python API."""

import logging
import math
import sys
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Literal, Self

from covey.composition import carriers
from covey.core.channels.channel import WebhookStyle, console, webhook
from covey.core.channels.post import OutgoingPost, Post, PostState
from covey.core.checks import choice, count, flag, function, instance, items, note, pid, place, text
from covey.core.checks import lease as parse_lease
from covey.core.directory.card import (
    DEFAULT_CAPACITY,
    PEERS_CAPACITY,
    Capacity,
    Card,
    Overflow,
    check_card,
    parse_capacity,
    parse_card,
)
from covey.core.directory.session import SessionKind
from covey.core.identity import parse_note
from covey.core.json import Json
from covey.core.ledger.event import Event
from covey.core.ledger.message import Message
from covey.core.ledger.outcome import Verdict
from covey.core.limits import PRESENCE_LEASE
from covey.core.names import (
    JOURNAL_TOPIC,
    known_scope,
    parse_agent_name,
    parse_label,
    parse_message_id,
    parse_session_id,
)
from covey.core.store_url import StoreUrl
from covey.engines import locate
from covey.ports.ledger import EventFilter
from covey.runtime.channels.service import ChannelCallbacks, run_channels
from covey.runtime.open_space import OpenSpace
from covey.services.care.history import SearchResult
from covey.services.care.status import SpaceStatus
from covey.services.directory.directory import AgentView, JoinRequest
from covey.services.space import Services
from covey.surfaces.python.member import Member
from covey.surfaces.python.messages import Receipt
from covey.surfaces.python.operator import Operator, operator_by

TellPost = Callable[[OutgoingPost], None]
"""Called after each attempt, with the message and the post as the attempt left it."""

_log = logging.getLogger("covey")


async def carry_posts(services: Services, channels: object, once: object, tell: TellPost | None) -> bool:
    """Carry the posts of these channels, or of all; return whether every attempted post was delivered."""
    names = [channels] if isinstance(channels, str) else items(channels, "channels", "use a list of names")
    parsed = [parse_agent_name(name) for name in names]
    ends = flag(once, "once")
    told = None if tell is None else function(tell, "tell")
    is_all_taken = True

    def posted(outgoing: OutgoingPost, after: Post) -> None:
        nonlocal is_all_taken
        is_all_taken &= after.state is PostState.DELIVERED
        if told is not None:
            told(outgoing._replace(post=after))

    await run_channels(
        services, parsed, carriers(sys.stdout), ChannelCallbacks(posted, _ignore, _warn, _ignore), once=ends
    )
    return is_all_taken


def _warn(message: str) -> None:
    _log.warning("carrying posts: %s", message)


def _ignore(*_: object) -> None:
    """Ignore an event: this API reports attempts to post, and nothing else."""


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

        A name can be joined more than once, also from several processes; each call starts another session. Every live
        session gets its own copy of a message or a question to the agent, as subscribers of a topic do; an answer goes
        to the session that asked. A task goes to one session, as in a queue group: to share work among the sessions of
        a name, use `delegate`, with `work` or `take` in each. The address of one session is `me.session.key`.

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

    async def status(self) -> SpaceStatus:
        """Return the whole space as of now: agents with their unread mail and unanswered questions, tasks, children,
        waits, and stopped exchanges."""
        return await self.services.status.read()

    async def operator(self, token: str) -> Operator:
        """Return the operator, who pauses agents and changes the settings of the space. The token is the operator's:
        `space.create_token("operator", by=me)` or `covey token create --operator` makes one. Raise OperatorOnly for
        another."""
        return await operator_by(self.services, token)

    async def create_token(self, agent: str, note: str | None = None, *, by: Member, register: bool = False) -> str:
        """Return a new token of an agent, or of the operator, in the name of the member `by`. The token is shown once.
        `note` says what it is for. An unknown agent is refused, or registered with `register`."""
        actor, whom = instance(Member, by, "by", "use a member").identity, parse_agent_name(agent)
        purpose = "" if note is None else parse_note(note)
        return await self.services.identities.create_token(whom, actor, purpose, register=flag(register, "register"))

    async def add_channel(
        self,
        name: str,
        *,
        by: Member,
        url: str | None = None,
        style: Literal["generic", "slack", "discord", "feishu"] = "generic",
        secret: str | None = None,
        about: str = "",
    ) -> None:
        """Add a channel to people, or change one, in the name of the member `by`: a webhook at `url`, or without a URL
        a console. Requests to the webhook have the format `style`, and are signed with `secret`. `about` describes the
        people there."""
        agent, form = parse_agent_name(name), choice(WebhookStyle, style, "style")
        key = None if secret is None else text(secret, "secret")
        config = console(agent) if url is None else webhook(agent, text(url, "url"), form, key)
        actor = instance(Member, by, "by", "use a member").identity
        await self.services.channels.add(config, actor, note(about, "description"))

    async def search(self, words: str, limit: int = 20) -> Sequence[SearchResult]:
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
            page = await self.services.passive_waiting.until([JOURNAL_TOPIC], look, math.inf if follow else 0)
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
