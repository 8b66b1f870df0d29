"""The peers toolkit: list the other agents, tell them something, and have something approved by one of them."""

from collections.abc import Sequence
from typing import Final

from covey.core.attention.pending import Instructions
from covey.core.directory.card import PEERS_CAPACITY, Card
from covey.core.directory.routing import RefusalCode, WhenOffline, allows, others_of_own_agent
from covey.core.errors import Invalid, MessageTooLarge, NotFound
from covey.core.formats.peers import INBOX_SUBJECT_PREFIX, MAX_BODY_BYTES, MIN_BODY_CHARS
from covey.core.identity import EVERYONE, Address, AddressKind, parse_address
from covey.core.json import Json, JsonObject
from covey.core.ledger.delivery import DeliveryRecord
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import AgentName, parse_correlation_id
from covey.core.reporting import closest
from covey.core.text.escape import harmless
from covey.core.work.approval import Approval, ApprovalState, Decision, parse_approval_name
from covey.services.directory.directory import AgentView
from covey.services.mail.recipients import SendPolicy
from covey.toolkits.agents import listed_agents, other_agent
from covey.toolkits.answers import as_json, refusal_of, said
from covey.toolkits.arguments import LONGEST_WAIT, given_seconds, given_text, missing
from covey.toolkits.read_message import READ_MESSAGE, REST
from covey.toolkits.references import given_ticket, message_of, progress_of, was_named, with_cause
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer, Toolkit

NO_DIRECTORY: Final = "this agent has no PeerDirectory configured"


async def _list(caller: Caller, arguments: Arguments) -> ToolAnswer:
    del arguments
    directory = caller.services.directory
    try:
        me = await directory.agent(caller.identity.agent)
    except NotFound:  # a claimed identity that is unknown here has no delegates
        return as_json({"peers": [], "note": NO_DIRECTORY})
    others = [view for view in await directory.agents() if view.name != me.name]
    return as_json(listed_agents(others, lambda view: _peer_entry(view, me)).document("peers"))


def _peer_entry(view: AgentView, me: AgentView) -> JsonObject:
    return {
        "agent_id": view.name,
        "description": said(view.card.description),
        "reachable": allows(me.card.allowed_delegates, view.name),
    }


LIST_PEERS: Final = Tool(
    name="list_peers",
    description=(
        "List the other agents: agent_id, description, and whether you may write to them (reachable). "
        "Use it BEFORE send_to_peer to find a valid `to`."
    ),
    parameters=(),
    run=_list,
    is_read_only=True,
)

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


async def _check_and_send(caller: Caller, arguments: Arguments) -> ToolAnswer:
    to = str(arguments.get("to", "")).strip()
    if not to:
        raise missing(SEND_TO_PEER, _TO)
    if to == caller.identity.agent:
        raise Invalid("to", to, "that is you, and you can't send a message to yourself; list_peers shows the others")
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


async def _send(caller: Caller, draft: Draft, to: tuple[Address, ...]) -> ToolAnswer:
    receipt = await caller.services.mail.send(await with_cause(caller, draft._replace(to=to)), caller.identity, POLICY)
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
            f"it reaches at most {MAX_PEERS_AT_ONCE} peers, and there are {count}; name the ones who need it",
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


def _reason(delivery: DeliveryRecord) -> str:
    code, reason = refusal_of(delivery)
    if code == RefusalCode.NO_LIVE_SESSION:
        return f"no live goals for agent_id `{delivery.agent}`"
    where = f"goal {delivery.session}" if delivery.session else f"agent_id `{delivery.agent}`"
    return f"{where}: {reason} ({code})"


def _not_allowed(to: str) -> str:
    return f"not allowed: `{to}` is not among your allowed_delegates"


def _unreachable(reason: str) -> ToolAnswer:
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
    run=_check_and_send,
    has_own_gates=True,
)


async def _request(caller: Caller, arguments: Arguments) -> ToolAnswer:
    seconds = given_seconds(arguments, "wait", LONGEST_WAIT)
    ticket, to, what, text = (given_text(arguments, name) for name in ("ticket", "to", "kind", "message"))
    approvals = caller.services.approvals
    if ticket is not None:
        if to is not None or text is not None:
            raise Invalid("ticket", ticket, "the approval was asked for already: give the ticket alone, to wait on")
        parsed = given_ticket(ticket, REQUEST_APPROVAL.name)
        return await _approval_answer(caller, await approvals.resume(parsed, caller.identity, seconds))
    if to is None or text is None:
        missing = "to" if to is None else "message"
        raise Invalid(missing, None, "say whom you ask (to) and what to approve (message), or give a ticket to wait on")
    name = parse_approval_name(what or "plan")
    peer = Address(AddressKind.AGENT, await other_agent(caller, to, "to"))
    draft = await with_cause(caller, Draft(Kind.REQUEST, (peer,), (TextPart(text),), expects_reply=True))
    return await _approval_answer(caller, await approvals.request(draft, name, caller.identity, SendPolicy(), seconds))


async def _approval_answer(caller: Caller, approval: Approval) -> ToolAnswer:
    """Return the decision. The wait is short, because clients give up on a long call; after a timeout the answer says
    how to resume."""
    ticket = approval.ticket
    data: dict[str, Json] = {"decision": str(approval.state), "by": ticket.debtor, "ticket": ticket.id}
    if approval.state is ApprovalState.WAITING:
        how = f'to wait on, call {REQUEST_APPROVAL.name}(ticket="{ticket.id}")'
        note = f"{ticket.debtor} {await progress_of(caller, ticket)}. You are not approved yet; {how}."
        return as_json({**data, "note": note})
    reason = harmless(approval.reason)
    return as_json({**data, "reason": reason}, is_error=approval.state is ApprovalState.FAILED)


REQUEST_APPROVAL: Final = Tool(
    name="request_approval",
    description=(
        "Ask a peer to approve something before you do it, such as a plan or a shutdown, and wait up to "
        f"{LONGEST_WAIT:.0f} seconds. Go on only if decision is approved; if it is rejected, reason says why. "
        "Without a decision yet you get a ticket: call again with it alone, to keep waiting."
    ),
    parameters=(
        Parameter("to", "agent_id of the peer who decides"),
        Parameter("message", "what to approve: all that the peer needs to know"),
        Parameter("kind", "plan (default), shutdown, or another word"),
        Parameter("ticket", "alone: keep waiting for the decision on an earlier request"),
        Parameter("wait", f"seconds, 0 to {LONGEST_WAIT:.0f}", ParameterType.NUMBER),
    ),
    run=_request,
)


async def _decide(caller: Caller, arguments: Arguments) -> ToolAnswer:
    message_id = await message_of(caller, str(arguments["request"]), "request")
    decision = Decision(arguments["approve"] is True, str(arguments.get("reason", "")))
    await caller.services.approvals.decide(message_id, caller.identity, decision)
    await was_named(caller, message_id, DECIDE_APPROVAL.name)
    asker = (await caller.services.mail.message(message_id)).sender.agent
    return as_json({"request_id": message_id, "decision": decision.word, "told": asker})


DECIDE_APPROVAL: Final = Tool(
    name="decide_approval",
    description=(
        "Approve or reject what a peer asks you to approve: a message with an approval attribute. The peer is told and "
        "acts on it; you can't change it later."
    ),
    parameters=(
        Parameter("request", "number of the message that asks", ParameterType.MESSAGE, is_required=True),
        Parameter("approve", "true to approve, false to reject", ParameterType.FLAG, is_required=True),
        Parameter("reason", "why; needed to reject"),
    ),
    run=_decide,
)

__all__ = ["INBOX_SUBJECT_PREFIX", "MAX_BODY_BYTES", "MAX_PEERS_AT_ONCE", "MIN_BODY_CHARS", "TOOLKIT"]

TOOLKIT: Final = Toolkit(
    name="peers",
    about="see who is there, tell them something, and have something approved",
    instructions=(
        "You work beside other agents, your peers. They don't see what you write here: send_to_peer is the only way to "
        "reach them. What they send you stands in a block PEER MESSAGES. Answer only if an answer helps. A message "
        "with an approval attribute waits for your decide_approval."
    ),
    tools=(LIST_PEERS, SEND_TO_PEER, REQUEST_APPROVAL, DECIDE_APPROVAL, READ_MESSAGE),
    capacity=PEERS_CAPACITY,
    ways=Instructions(
        more="they come at your next turn",
        rest=REST,
        answer="send_to_peer, to whoever asked, with the same correlation_id",
        decide="decide_approval(request={number}, approve=true or false, reason=…)",
        task="",
    ),
)
