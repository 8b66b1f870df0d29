"""A turn: one call of a model by a loop of one's own, with what is pending in its request and evidence after it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, Self, TypedDict, cast

from covey.core.attention.pending import Instructions, Pending, Terms, check_terms
from covey.core.checks import check_known, choice, items, note, whole
from covey.core.checks import lease as parse_lease
from covey.core.directory.capacity import Capacity
from covey.core.errors import Invalid, Unavailable
from covey.core.identity import Identity
from covey.core.injection.injection import Injected, Thinking, inject
from covey.core.injection.injection import take_out as take_out_of
from covey.core.injection.messages import Provider
from covey.core.ledger.evidence import EvidenceGrade
from covey.core.ledger.offer import Presentation
from covey.core.names import parse_agent_name
from covey.core.rendering.styles import Style, framed
from covey.finishing import Finisher
from covey.services.space import Services

ProviderName = Literal["anthropic", "openai", "openai-responses"]
StyleName = Literal["peers", "broadcast", "compact"]


class TurnOptions(TypedDict, total=False):
    """What `turn` and `pending` understand: how much of what waits is shown, and how."""

    budget: int
    """How many characters it may take, everything included."""
    presentation: Literal["once", "until_handled"]
    limit: int
    """How many messages at most."""
    leads: Collection[str]
    """Agents whose mail comes before that of others."""
    lease: timedelta
    """How long the messages are held without a sign of life."""
    more: str
    """How the model reads what did not fit, in words that it can act on; {agent} stands for its own name."""
    rest: str
    """How it reads the rest of a message that was cut; {number} and {message} stand for its number and id."""
    answer: str
    """How it answers; in the style of hooks only."""
    decide: str
    """How it approves or rejects what it is asked to; {number} and {message} stand for the request's number and id."""
    task: str
    """How it says what becomes of a task, likewise. With an empty text no task is taken for it."""
    worker: str
    """How it gives a worker more to do whose work is finished: a coordinator then sees it as a task-notification."""
    capacity: Capacity | None
    """What the session's inbox holds from this turn on, as its toolkit wants it; None leaves it as it is."""


class Turn:
    """Returned by `me.turn()`, to be entered with `async with`. Entering takes what waits.

    What was put into the request counts as read when `responded` was called: the provider has answered it. Otherwise it
    is given back when the turn ends, and comes again.
    """

    def __init__(
        self,
        services: Services,
        actor: Identity,
        finisher: Finisher,
        name: str,
        terms: Terms,
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
        """What this turn shows: messages, other agents, and what did not fit."""
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
            # What went wrong is what the caller must hear of. The offer ends with its lease.

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
        """Return a copy of a request's messages with what is pending at the end, in a form that is valid for it.

        `tools` are those of the request, `thinking` is whether it lets the model think, or its own setting of that.
        """
        injected = inject(
            _list(messages),
            self.pending,
            provider=choice(Provider, provider, "provider"),
            tools=_list(tools, "tools"),
            thinking=_thinking(thinking),
            style=None if style is None else choice(Style, style, "style"),
        )
        self._was_rendered = True
        return injected

    def text(self, style: StyleName = "peers") -> str:
        """Return what is pending as text, for a loop that has its own place for it; empty where nothing is."""
        parsed = choice(Style, style, "style")
        self._was_rendered = True
        return framed(self.pending, parsed)

    def responded(self, response_id: str) -> None:
        """Say that the provider has answered the request. What it showed was in the model's context."""
        self._response = note(response_id, "response id")

    def __repr__(self) -> str:
        return f"<Turn {self._name} {self._pending.title if self._pending else 'not begun'}>"


def take_out(messages: Sequence[object], *, provider: ProviderName) -> list[Any]:
    """Return a copy of a request's messages without what was injected at the end."""
    return take_out_of(_list(messages), provider=choice(Provider, provider, "provider"))


def terms_from(options: TurnOptions) -> Terms:
    """Return what a caller asks for; a wrong value is Invalid, and says which."""
    check_known(options, TurnOptions.__annotations__)
    usual = Terms()
    said = cast(Mapping[str, object], options)
    ways = {name: note(said[name], name) for name in Instructions._fields if name in said}
    return check_terms(
        Terms(
            budget=whole(options.get("budget", usual.budget), "budget"),
            presentation=choice(Presentation, options.get("presentation", usual.presentation), "presentation"),
            limit=whole(options.get("limit", usual.limit), "limit"),
            leads=frozenset(map(parse_agent_name, items(options.get("leads", ()), "leads", "use a list of agents"))),
            ways=usual.ways._replace(**ways),
            lease=parse_lease(options.get("lease", usual.lease)),
        )
    )


def capacity_from(options: TurnOptions) -> Capacity | None:
    """Return the limit that a caller sets to its session's inbox; a wrong value is Invalid."""
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
