"""The dialogue toolkit: requests, responses and notes of a task, which must be answered and archived before it ends."""

from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.attention.pending import Instructions
from covey.core.errors import MessageTooLarge, NotAnswered
from covey.core.formats.dialogue import dialogue_document
from covey.core.identity import Address, AddressKind
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, Message, TextPart
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.limits import MAX_DIALOGUE_BODY_BYTES
from covey.core.names import known_scope, known_subject, parse_agent_name, parse_subject
from covey.core.text.escape import harmless
from covey.core.times import parse_instant
from covey.services.mail.inbox import InboxFilter
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.toolkits.answers import as_json, refused
from covey.toolkits.read_message import READ_MESSAGE, REST
from covey.toolkits.references import message_of, was_named, with_cause
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer, Toolkit

ROOM: Final = 48 * 1024
"""The maximal number of characters of all bodies in one answer, unless the first body alone is longer."""


def listing(entries: Sequence[tuple[Message, Mapping[str, Json]]]) -> dict[str, Json]:
    """Return messages with their additional fields. Messages that did not fit are counted."""
    shown: list[Json] = []
    room = ROOM
    for message, more in entries:
        room -= len(message.text)
        if shown and room < 0:
            break
        shown.append({**dialogue_document(message), "body": harmless(message.text), **more})
    left = len(entries) - len(shown)
    return {"messages": shown, "left_out": left} if left else {"messages": shown}


KINDS: Final = (Kind.REQUEST, Kind.RESPONSE, Kind.NOTIFY)
POLICY: Final = SendPolicy(when_unknown=WhenUnknown.REGISTER)
"""Agents of a task may be written to before they have joined. A reply does not close the ticket: its request is
archived."""


async def _send(caller: Caller, arguments: Arguments) -> ToolAnswer:
    body = str(arguments["body"])
    if (size := len(body.encode(errors="surrogatepass"))) > MAX_DIALOGUE_BODY_BYTES:
        raise MessageTooLarge(size, MAX_DIALOGUE_BODY_BYTES)
    reference = arguments.get("in_reply_to")
    answered = None if reference is None else await message_of(caller, str(reference), "in_reply_to")
    rounds = arguments.get("round")
    draft = Draft(
        kind=Kind(str(arguments["kind"])),
        to=(Address(AddressKind.AGENT, parse_agent_name(arguments["to"])),),
        parts=(TextPart(body),),
        subject=known_subject(arguments["subject"]) if answered else parse_subject(arguments["subject"]),
        scope=known_scope(arguments["phase"]),
        round=rounds if isinstance(rounds, int) else None,
        in_reply_to=answered,
        expects_reply=arguments.get("expects_reply") is True,
    )
    receipt = await caller.services.mail.send(await with_cause(caller, draft), caller.identity, POLICY)
    if answered is not None:
        await was_named(caller, answered, MESSAGES_SEND.name)
    message = await caller.services.mail.message(receipt.message_id)
    copies = [{"agent": copy.agent, "state": str(copy.state), "reason": copy.reason} for copy in receipt.deliveries]
    return as_json({**dialogue_document(message), "deliveries": copies}, is_error=not receipt.delivered)


MESSAGES_SEND: Final = Tool(
    name="messages_send",
    description=(
        "Send a message about a task. A request with expects_reply=true has to be answered by its receiver and "
        "archived before the task can end. Answer a request with kind=response and its id in in_reply_to. At most "
        f"{MAX_DIALOGUE_BODY_BYTES // 1024} KiB."
    ),
    parameters=(
        Parameter("to", "name of the agent", is_required=True),
        Parameter("kind", "notify expects no reply", is_required=True, choices=tuple(map(str, KINDS))),
        Parameter("subject", "topic in kebab-case, such as missing-test", is_required=True),
        Parameter("body", "the text", is_required=True),
        Parameter("phase", "id of the task that it is about", is_required=True),
        Parameter("round", "round of the task", ParameterType.WHOLE),
        Parameter("expects_reply", "only for a request", ParameterType.FLAG),
        Parameter("in_reply_to", "id of the message that you answer", ParameterType.MESSAGE),
    ),
    run=_send,
)

_ANY_STATE: Final = frozenset(DeliveryState)


async def _inbox(caller: Caller, arguments: Arguments) -> ToolAnswer:
    task, kind, since = (arguments.get(name) for name in ("task", "kind", "since"))
    wanted = InboxFilter(
        scope=None if task is None else known_scope(task),
        kind=None if kind is None else Kind(str(kind)),
        since=None if since is None else parse_instant(since),
        states=_ANY_STATE,
    )
    items = await caller.services.dialogue.unarchived(caller.identity.agent)
    return as_json(listing([(item.message, {"state": str(item.state)}) for item in items if wanted.fits(item)]))


MESSAGES_INBOX: Final = Tool(
    name="messages_inbox",
    description=(
        "List the messages to you that are not archived, oldest first. left_out counts those that did not fit: archive "
        "some, or narrow the list."
    ),
    parameters=(
        Parameter("task", "only those of this task (phase)"),
        Parameter("kind", "only those of this kind", choices=tuple(Kind)),
        Parameter("since", "only those sent since then: ISO 8601 with a zone"),
    ),
    run=_inbox,
    is_read_only=True,
)


async def _archive(caller: Caller, arguments: Arguments) -> ToolAnswer:
    message_id = await message_of(caller, str(arguments["id"]), "id")
    try:
        await caller.services.dialogue.archive(message_id, caller.identity)
    except NotAnswered as error:
        return refused(error, f"Answer it first: messages_send(kind=response, in_reply_to={message_id}, …).")
    await was_named(caller, message_id, MESSAGES_ARCHIVE.name)
    return as_json({"archived": message_id})


MESSAGES_ARCHIVE: Final = Tool(
    name="messages_archive",
    description="Put away a message that you have dealt with. A request that expects a reply must be answered first.",
    parameters=(Parameter("id", "id of the message", ParameterType.MESSAGE, is_required=True),),
    run=_archive,
)


async def _thread(caller: Caller, arguments: Arguments) -> ToolAnswer:
    message_id = await message_of(caller, str(arguments["id"]), "id")
    messages = await caller.services.dialogue.thread(message_id)
    await was_named(caller, message_id, MESSAGES_THREAD.name)
    return as_json(listing([(message, {}) for message in messages]))


MESSAGES_THREAD: Final = Tool(
    name="messages_thread",
    description="Read the whole reply chain that a message is in, causes before effects, archived ones included.",
    parameters=(Parameter("id", "id of any message of the chain", ParameterType.MESSAGE, is_required=True),),
    run=_thread,
    is_read_only=True,
)


async def _pending(caller: Caller, arguments: Arguments) -> ToolAnswer:
    phase = arguments.get("phase")
    if phase is None:
        owed = await caller.services.dialogue.owed_by(caller.identity.agent)
        return as_json({"owed_by": caller.identity.agent, "pending": _requests(owed)})
    judged = await caller.services.dialogue.gate(known_scope(phase))
    return as_json(
        {
            "phase": judged.scope,
            "observed_pending_replies": len(judged.owed),
            "pending_subjects": list(judged.subjects),
            "pending": _requests(judged.owed),
        }
    )


def _requests(tickets: Sequence[Ticket]) -> Sequence[Json]:
    return [
        {
            "id": ticket.message_id,
            "from": ticket.asker,
            "to": ticket.debtor,
            "phase": ticket.scope,
            "subject": ticket.subject,
            "answered": ticket.state is TicketState.ANSWERED,
        }
        for ticket in tickets
    ]


PENDING: Final = Tool(
    name="pending",
    description=(
        "List the requests that keep a task from being committed: those without an answer, and those that are "
        "answered but not archived by their receiver. Without a phase: those that you have to answer or archive."
    ),
    parameters=(Parameter("phase", "id of the task"),),
    run=_pending,
    is_read_only=True,
)

TOOLKIT: Final = Toolkit(
    name="dialogue",
    about="ask and answer about a task that ends only when nothing is owed",
    instructions=(
        "You work with other agents on a task (its phase). Look at messages_inbox before you edit. Answer each "
        "request that has expects_reply with messages_send(kind=response, in_reply_to=ID), then messages_archive(ID). "
        "The task can't be committed while `pending` lists anything. Ask only what you need to know."
    ),
    tools=(MESSAGES_SEND, MESSAGES_INBOX, MESSAGES_ARCHIVE, MESSAGES_THREAD, PENDING, READ_MESSAGE),
    ways=Instructions(
        more="messages_inbox",
        rest=REST,
        answer="messages_send(kind=response, in_reply_to=ID, …), then messages_archive(id=ID)",
        decide=(
            'messages_send(kind=response, in_reply_to={message}, body=JSON, …), JSON being {{"approve": true}}, or '
            'false and a "reason"'
        ),
        task="",
    ),
)
