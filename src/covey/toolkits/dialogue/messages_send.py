"""messages_send: send a remark about a task, a question or an answer."""

from typing import Final

from covey.core.address import Address, AddressKind
from covey.core.errors import MessageTooLarge
from covey.core.formats.dialogue import dialogue_document
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.limits import MAX_DIALOGUE_BODY_BYTES
from covey.core.names import known_scope, known_subject, parse_agent_name, parse_subject
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.toolkits.answers import as_json
from covey.toolkits.leading import led
from covey.toolkits.references import message_of, was_named
from covey.toolkits.tool import Answer, Arguments, Caller, Form, Parameter, Tool

KINDS: Final = (Kind.REQUEST, Kind.RESPONSE, Kind.NOTIFY)
POLICY: Final = SendPolicy(when_unknown=WhenUnknown.REGISTER)
"""Agents of a task may be written to before they have joined. A reply does not close the ticket: its request is
archived."""


async def _run(caller: Caller, arguments: Arguments) -> Answer:
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
    receipt = await caller.services.mail.send(await led(caller, draft), caller.identity, POLICY)
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
        Parameter("round", "round of the task", Form.WHOLE),
        Parameter("expects_reply", "only for a request", Form.FLAG),
        Parameter("in_reply_to", "id of the message that you answer", Form.MESSAGE),
    ),
    run=_run,
)
