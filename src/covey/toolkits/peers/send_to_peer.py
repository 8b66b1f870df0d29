"""send_to_peer: tell a peer something, in all its sessions. Six checks in an agreed order; no waiting."""

from collections.abc import Sequence
from typing import Final

from covey.core.address import EVERYONE, Address, AddressKind, parse_address
from covey.core.directory.card import Card
from covey.core.directory.routing import RefusalCode, WhenOffline, allows, others_of_own_agent
from covey.core.errors import Invalid, MessageTooLarge, NotFound
from covey.core.formats.peers import MAX_BODY_BYTES, MIN_BODY_CHARS
from covey.core.ids import parse_correlation_id
from covey.core.ledger.delivery import Delivery
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import AgentName
from covey.core.text.wording import closest
from covey.services.mail.recipients import SendPolicy
from covey.toolkits.answers import as_json
from covey.toolkits.arguments import missing
from covey.toolkits.leading import led
from covey.toolkits.outcomes import refusal_of
from covey.toolkits.tool import Answer, Arguments, Caller, Parameter, Tool
from covey.toolkits.wording import said

MAX_PEERS_AT_ONCE: Final = 32
"""The maximal number of peers that `*` may reach; if there are more, it reaches none."""

POLICY: Final = SendPolicy(when_offline=WhenOffline.REFUSE, may_await_session=True)

_TO: Final = Parameter(
    "to", f"agent_id of the peer; * for all reachable ones, at most {MAX_PEERS_AT_ONCE}", is_required=True
)
_MESSAGE: Final = Parameter("message", "what to say; the peer sees nothing else of your work", is_required=True)
_CORRELATION: Final = Parameter(
    "correlation_id", "a UUID that ties an answer to a question; repeat the one you were sent"
)


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    to = str(arguments.get("to", "")).strip()
    if not to:
        raise missing(SEND_TO_PEER, _TO)
    if to == caller.identity.agent:
        raise Invalid("to", to, "that is you, and a message to oneself is not sent; list_peers shows the others")
    body = str(arguments.get("message", ""))
    if len(body) < MIN_BODY_CHARS:
        raise Invalid("message", None, "a message has at least 1 character")
    if (size := len(body.encode(errors="surrogatepass"))) > MAX_BODY_BYTES:
        raise MessageTooLarge(size, MAX_BODY_BYTES)
    correlation = arguments.get("correlation_id")
    draft = Draft(
        Kind.NOTIFY,
        (),
        (TextPart(body),),
        correlation_id=None if correlation is None else parse_correlation_id(correlation),
    )
    found = await _whom(caller, to)
    return await _send(caller, draft, found) if isinstance(found, tuple) else _unreachable(found)


async def _send(caller: Caller, draft: Draft, to: tuple[Address, ...]) -> Answer:
    receipt = await caller.services.mail.send(await led(caller, draft._replace(to=to)), caller.identity, POLICY)
    return as_json(
        {
            "delivered_to": [delivery.session for delivery in receipt.delivered],
            "unreachable_reasons": [_reason(delivery) for delivery in receipt.refused],
        }
    )


async def _whom(caller: Caller, to: str) -> tuple[Address, ...] | str:
    """Return the addresses that a message can be sent to, or the reason why there are none."""
    card = await _card(caller)
    if to == EVERYONE.value:
        return await _everyone(caller, card)
    address = _peer(to)
    if address is not None and address.kind is AddressKind.SESSION:
        return (address,)
    names = await caller.services.directory.names()
    if address is None or address.value not in names:
        foreign = [view.name for view in await caller.services.directory.agents() if view.card.wire_name == to]
        address = Address(AddressKind.AGENT, foreign[0]) if foreign else None
    if address is None:
        near = closest(to, [name for name in names if name != caller.identity.agent])
        hint = f"; did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else ""
        return f"unknown agent_id `{said(to)}`{hint}"
    if not allows(card.allowed_delegates, AgentName(address.value)):
        return _not_allowed(to)
    return (address,)


async def _everyone(caller: Caller, card: Card) -> tuple[Address, ...] | str:
    views = await caller.services.directory.agents()
    live = [view.name for view in views if view.sessions and view.name != caller.identity.agent]
    peers = [name for name in live if allows(card.allowed_delegates, name)]
    mine = next((view.sessions for view in views if view.name == caller.identity.agent), ())
    own = [Address(AddressKind.SESSION, other.id) for other in others_of_own_agent(mine, caller.identity.session)]
    count = len(peers) + len(own)
    if count > MAX_PEERS_AT_ONCE:
        raise Invalid(
            "to",
            "*",
            f"it reaches at most {MAX_PEERS_AT_ONCE} peers and {count} are there; name those who need it",
        )
    to = (*(Address(AddressKind.AGENT, name) for name in peers), *own)
    return to or "no live goals for any peer that you may reach"


async def _card(caller: Caller) -> Card:
    """Return the caller's card; the default card if the caller is unknown."""
    try:
        return (await caller.services.directory.agent(caller.identity.agent)).card
    except NotFound:
        return Card()


def _peer(to: str) -> Address | None:
    """Return the agent or session that a text names; None if it can't be either."""
    try:
        address = parse_address(to)
    except Invalid:
        return None
    return address if address.kind in (AddressKind.AGENT, AddressKind.SESSION) else None


def _reason(delivery: Delivery) -> str:
    code, reason = refusal_of(delivery)
    if code == RefusalCode.NO_LIVE_SESSION:
        return f"no live goals for agent_id `{delivery.agent}`"
    where = f"goal {delivery.session}" if delivery.session else f"agent_id `{delivery.agent}`"
    return f"{where}: {reason} ({code})"


def _not_allowed(to: str) -> str:
    return f"not allowed: `{to}` is not among your allowed_delegates"


def _unreachable(reason: str) -> Answer:
    data: dict[str, Sequence[str]] = {"delivered_to": [], "unreachable_reasons": [reason]}
    return as_json(data)


SEND_TO_PEER: Final = Tool(
    name="send_to_peer",
    description=(
        "Send a message to another agent, who reads it at its next turn. You don't wait, and get no answer here: an "
        "answer is a message to you. delivered_to lists the sessions that got it; unreachable_reasons says who did "
        f'not, and why. At most {MAX_BODY_BYTES // 1024} KB. to="*" is expensive, because every peer reads it: it '
        f"reaches at most {MAX_PEERS_AT_ONCE} peers and is refused if there are more."
    ),
    parameters=(_TO, _MESSAGE, _CORRELATION),
    run=_run,
    has_own_gates=True,
)
