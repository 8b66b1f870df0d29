"""Turns: calls of a model by the program's own loop, with pending mail in the request and evidence afterwards."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, Self, TypedDict, cast

from covey.core.attention.injection import Injected, Thinking, inject
from covey.core.attention.injection import take_out as take_out_of
from covey.core.attention.pending import AttentionOptions, Instructions, Pending, check_terms
from covey.core.attention.provider_messages import Provider
from covey.core.attention.styles import RenderingStyle, framed
from covey.core.checks import check_known, choice, items, note, whole
from covey.core.checks import lease as parse_lease
from covey.core.directory.card import Capacity
from covey.core.errors import Invalid, Unavailable
from covey.core.identity import Identity
from covey.core.ledger.offer import EvidenceGrade, Presentation
from covey.core.names import parse_agent_name
from covey.runtime.cancellation import Finisher
from covey.services.space import Services

ProviderName = Literal["anthropic", "openai", "openai-responses"]
StyleName = Literal["peers", "broadcast", "compact"]


class TurnOptions(TypedDict, total=False):
    """Options of `turn` and `pending`: limits and instructions for showing the waiting mail."""

    budget: int
    """The limit in characters, including the frame around the messages."""
    presentation: Literal["once", "until_handled"]
    """Show a message once, or in every turn until it is answered or dismissed."""
    limit: int
    """The largest number of messages."""
    leads: Collection[str]
    """Agents whose mail comes before that of other agents."""
    lease: timedelta
    """The lease on the messages: without renewal they return to the queue when the lease ends."""
    more: str
    """The instruction to read the messages that did not fit. {agent} stands for the reader's name."""
    rest: str
    """The instruction to read the rest of a message that was cut. {number} and {message} stand for its number and
    id."""
    answer: str
    """The instruction to answer; shown only in the style of hooks."""
    decide: str
    """The instruction to approve or reject. {number} and {message} stand for the request's number and id."""
    task: str
    """The instruction to report on a task, with the same fields. If empty, no task is taken for the model."""
    worker: str
    """The instruction to give more work to a worker that has finished. If set, a coordinator sees finished work as a
    task-notification."""
    capacity: Capacity | None
    """The capacity of the session's inbox from this turn on, as its toolkit requires; None changes nothing."""


class Turn:
    """Returned by `me.turn()`, to be entered with `async with`. Entering takes the waiting mail.

    The mail in the request counts as read once `responded` was called: the provider has answered the request. Otherwise
    the mail is given back at the end of the turn, and is shown again later.
    """

    def __init__(
        self,
        services: Services,
        actor: Identity,
        finisher: Finisher,
        name: str,
        terms: AttentionOptions,
        capacity: Capacity | None = None,
    ) -> None:
        self._services = services
        self._actor = actor
        self._finisher = finisher
        self._name = name
        self._terms = terms
        self._capacity = capacity
        self._pending: Pending | None = None
        self._was_rendered = False
        self._response: str | None = None

    @property
    def pending(self) -> Pending:
        """The content of this turn: messages, other agents, and counts of the messages that did not fit."""
        if self._pending is None:
            raise RuntimeError("the turn has not begun: use `async with me.turn() as turn`")
        return self._pending

    async def __aenter__(self) -> Self:
        if self._capacity is not None:
            await self._services.inbox_limits.hold(self._actor, self._capacity)
        taking = self._services.attention.take(self._actor, self._name, self._terms)
        self._pending = await self._finisher.acquire(taking, self._give_back)
        return self

    async def _give_back(self, pending: Pending) -> None:
        if pending.offer is not None:
            await self._services.offers.give_back(pending.offer, self._actor, "the turn was cancelled")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._finisher.complete(self._end(error))
        except Unavailable:
            if error is None:
                raise
            # The caller must see the first error, not this one. The offer ends with its lease.

    async def _end(self, error: BaseException | None) -> None:
        offer = self.pending.offer
        if offer is None:
            return
        if self._response is not None and self._was_rendered:
            basis = f"the response {self._response}"
            await self._services.offers.confirm(offer, self._actor, EvidenceGrade.WITNESSED, basis)
        else:
            why = "no response was reported" if error is None else f"the turn failed: {type(error).__name__}"
            await self._services.offers.give_back(offer, self._actor, why)

    def inject(
        self,
        messages: Sequence[object],
        *,
        provider: ProviderName,
        tools: Sequence[object] = (),
        thinking: Thinking = False,
        style: StyleName | None = None,
    ) -> Injected:
        """Return a copy of a request's messages with the pending mail at the end, in a form that the provider accepts.

        `tools` are the tools of the request. `thinking` is True if the request lets the model think, or the request's
        own setting for thinking.
        """
        injected = inject(
            _list(messages),
            self.pending,
            provider=choice(Provider, provider, "provider"),
            tools=_list(tools, "tools"),
            thinking=_thinking(thinking),
            style=None if style is None else choice(RenderingStyle, style, "style"),
        )
        self._was_rendered = True
        return injected

    def text(self, style: StyleName = "peers") -> str:
        """Return the pending mail as text, for a loop that places the text itself. Empty if nothing is pending."""
        parsed = choice(RenderingStyle, style, "style")
        self._was_rendered = True
        return framed(self.pending, parsed)

    def responded(self, response_id: str) -> None:
        """Record that the provider has answered the request: the mail in it was in the model's context."""
        self._response = note(response_id, "response id")

    def __repr__(self) -> str:
        return f"<Turn {self._name} {self._pending.title if self._pending is not None else 'not begun'}>"


def take_out(messages: Sequence[object], *, provider: ProviderName) -> list[Any]:
    """Return a copy of a request's messages without the injected mail at the end."""
    return take_out_of(_list(messages), provider=choice(Provider, provider, "provider"))


def terms_from(options: TurnOptions) -> AttentionOptions:
    """Parse the options of a turn. Raise Invalid, with the name of the field, for a wrong value."""
    check_known(options, TurnOptions.__annotations__)
    usual = AttentionOptions()
    said = cast(Mapping[str, object], options)
    ways = {name: note(said[name], name) for name in Instructions._fields if name in said}
    return check_terms(
        AttentionOptions(
            budget=whole(options.get("budget", usual.budget), "budget"),
            presentation=choice(Presentation, options.get("presentation", usual.presentation), "presentation"),
            limit=whole(options.get("limit", usual.limit), "limit"),
            leads=frozenset(map(parse_agent_name, items(options.get("leads", ()), "leads", "use a list of agents"))),
            ways=usual.ways._replace(**ways),
            lease=parse_lease(options.get("lease", usual.lease)),
        )
    )


def capacity_from(options: TurnOptions) -> Capacity | None:
    """Return the capacity that a caller sets for its session's inbox. Raise Invalid for a wrong value."""
    given = cast(object, options.get("capacity"))
    if given is not None and not isinstance(given, Capacity):
        raise Invalid("capacity", given, "use a Capacity, as `tools.showing` has it")
    return given


def _thinking(value: object) -> Thinking:
    if value is not None and not isinstance(value, bool | Mapping):
        raise Invalid("thinking", value, "use True, False, or what the request says of it")
    return cast(Thinking, value)


def _list(value: object, what: str = "messages") -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise Invalid(what, value, "use a list")
    return cast(Sequence[object], value)
