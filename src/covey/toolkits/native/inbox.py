"""read_inbox: the caller's new and open messages, or one conversation with the requested message in full."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from covey.core.attention.pending import AttentionOptions, Instructions, Pending
from covey.core.attention.styles import compact_text
from covey.core.attention.task_lines import child_entry, task_entry
from covey.core.errors import CoveyError
from covey.core.json import Json
from covey.core.ledger.delivery import WAITING, DeliveryState
from covey.core.ledger.message import FilePart, Kind, Message, body_of
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import MessageId, SessionId
from covey.core.reporting import counted
from covey.core.text.escape import harmless, one_line
from covey.core.times import format_instant
from covey.core.work.approval import requested
from covey.ports.work import TaskFilter
from covey.services.attention.offers import ReadPart
from covey.services.mail.inbox import InboxItem
from covey.services.tasks.tasks import TaskView
from covey.toolkits.answers import clipped, indented, said
from covey.toolkits.arguments import LONGEST_WAIT, given_seconds, given_text
from covey.toolkits.read_message import START, given_start, part_answer, read_part
from covey.toolkits.references import message_of
from covey.toolkits.tasks import TASK_WAY, described
from covey.toolkits.tool import Arguments, Caller, Parameter, ParameterType, Tool, ToolAnswer

ROOM: Final = 20_000
"""The maximal number of characters of the other messages of the thread together."""

LONGEST: Final = 80_000
"""The maximal number of characters of the requested message."""

FILE_CHARS: Final = 20_000
"""The maximal number of characters of a text file."""


async def conversation(caller: Caller, part: ReadPart, rest: str) -> ToolAnswer:
    """Show the thread of a message, the part of the message that was read, and the text of its files. `rest` tells how
    to read on."""
    asked = part.message
    messages = await caller.services.dialogue.thread(asked.id)
    chosen = _chosen(messages, asked)
    left_out = len(messages) - len(chosen)
    lines = [f"{counted(left_out, 'earlier message')} left out."] if left_out else []
    for message in chosen:
        lines += _shown(message, part.text if message.id == asked.id else body_of(message))
    if part.extent.stop < part.extent.length:
        way = rest.format(agent="", number=asked.id, message=asked.id, next=part.extent.stop + 1)
        lines.append(f"Of {asked.id}: {part.extent}. The rest: {way}")
    files = [await _file(caller, file) for file in asked.parts if isinstance(file, FilePart)]
    entries = [_entry(message, part.text if message.id == asked.id else body_of(message)) for message in chosen]
    data: dict[str, Json] = {"messages": entries, "left_out": left_out, "files": files, "offer": part.offer}
    return ToolAnswer("\n".join([*lines, *files]), data, offer=part.offer)


def _chosen(messages: Sequence[Message], asked: Message) -> Sequence[Message]:
    """Return the newest messages that fit, and the requested one."""
    room = ROOM
    chosen: set[MessageId] = {asked.id}
    for message in reversed(messages):
        if message.id != asked.id:
            room -= len(body_of(message))
            if room < 0:
                break
            chosen.add(message.id)
    return [message for message in messages if message.id in chosen]


def _shown(message: Message, body: str) -> Iterator[str]:
    to = ", ".join(one_line(address.value) for address in message.to)
    wants = ", wants an answer" if message.expects_reply else ""
    told = message.task.state if message.kind is Kind.UPDATE and message.task is not None else None
    state = f", the task is {one_line(told)}" if told is not None else ""
    yield f"{message.kind} from {message.sender} to {to} at {format_instant(message.created_at)}{wants}{state}:"
    yield indented(harmless(body))


async def _file(caller: Caller, part: FilePart) -> str:
    name = one_line(part.name)
    try:
        text = (await caller.services.attachments.content(part)).decode()
    except UnicodeDecodeError:
        return f"File {name}: {part.size:,} bytes, not text."
    except CoveyError as error:
        return f"File {name}: {one_line(error.message)}."
    cut = f", of which {FILE_CHARS:,} characters are shown" if len(text) > FILE_CHARS else ""
    return f"File {name}, {part.size:,} bytes{cut}:\n{indented(harmless(clipped(text, FILE_CHARS)))}"


def _entry(message: Message, body: str) -> Json:
    return {
        "id": message.id,
        "from": message.sender.agent,
        "grade": str(message.sender.grade),
        "kind": str(message.kind),
        "expects_reply": message.expects_reply,
        "in_reply_to": message.in_reply_to,
        "created_at": format_instant(message.created_at),
        "text": harmless(body),
    }


MANY: Final = 20
"""The maximal number of lines of each kind; the others are counted."""

WORDS: Final = 80
"""The number of characters of a message in its line."""


async def still_open(caller: Caller, shown: Collection[MessageId]) -> Sequence[str]:
    """Return lines about open matters, without the messages that are shown anyway."""
    session = caller.identity.session
    items = await caller.services.dialogue.unarchived(caller.identity.agent)
    debts = {t.message_id for t in await caller.services.dialogue.owed_by(caller.identity.agent) if _is_open(t)}
    mine = [item for item in items if item.message.id not in shown and _is_mine(item, session, debts)]
    waits = [ticket for ticket in await caller.services.dialogue.owed_to(caller.identity.agent) if _is_open(ticket)]
    in_hand = [v for v in await caller.services.duties.in_hand(caller.identity) if v.task.id not in shown]
    delegated = TaskFilter(delegator=caller.identity.agent, is_finished=False)
    given = [view for view in await caller.services.tasks.find(delegated) if not view.task.is_finished]
    return [
        *_block("Your tasks; report on them with update_task:", await described(caller, in_hand)),
        *_block("Still open; read_inbox(message=NUMBER) shows one again:", [_line(item) for item in mine]),
        *_block("You wait for an answer from:", [f'{t.debtor}: ask_agent(ticket="{t.id}")' for t in waits]),
        *_block("Tasks that you delegated:", [_given(view) for view in given]),
    ]


def _is_open(ticket: Ticket) -> bool:
    return ticket.state is TicketState.OPEN


def _is_mine(item: InboxItem, session: SessionId | None, debts: Collection[MessageId]) -> bool:
    """Tell whether the caller must handle a message: it waits in its own session, or its agent owes an answer. New mail
    is left out, because it is shown when there is room."""
    if item.message.kind is Kind.TASK:
        return False  # listed among the tasks
    if item.delivery.state not in WAITING:
        return item.message.id in debts
    if session is None:
        return True
    return item.delivery.session == session and item.state is not DeliveryState.QUEUED


def _line(item: InboxItem) -> str:
    wants = ", wants an answer" if item.message.expects_reply else ""
    if requested(item.message):
        wants = ", wants your approval"
    body = said(body_of(item.message), WORDS)
    return f"#{item.delivery.number} {item.message.kind} from {item.message.sender}{wants}: {body}"


def _given(view: TaskView) -> str:
    task = view.task
    return f"{task.agent}: task {task.id}, {task.state}: {said(body_of(view.message), WORDS)}"


def _block(head: str, lines: Sequence[str]) -> Sequence[str]:
    if not lines:
        return ()
    more = [f"- and {len(lines) - MANY} more"] if len(lines) > MANY else []
    return [head, *(f"- {line}" for line in lines[:MANY]), *more]


WAYS: Final = Instructions(
    more="read_inbox, again",
    rest="read_inbox(message={number}, start={next})",
    answer="send_message(reply_to=NUMBER, message=…)",
    decide="send_message(reply_to={number}, approve=true or false, message=why)",
    task=TASK_WAY,
)
TERMS: Final = AttentionOptions(budget=20_000, ways=WAYS)


async def _run(caller: Caller, arguments: Arguments) -> ToolAnswer:
    reference = given_text(arguments, "message")
    if reference is not None:
        message_id, start = await message_of(caller, reference), given_start(arguments)
        if start > 0:
            return part_answer(await read_part(caller, message_id, start, READ_INBOX.name), WAYS.rest)
        part = await read_part(caller, message_id, start, READ_INBOX.name, LONGEST)
        return await conversation(caller, part, WAYS.rest)
    pending = await _new(caller, given_seconds(arguments, "wait", 0.0))
    shown = {letter.message_id for letter in pending.letters}
    open_lines = await still_open(caller, shown)
    text = "\n".join([compact_text(pending) if pending.letters else "No new messages.", *open_lines])
    return ToolAnswer(text, _data(pending, open_lines), offer=pending.offer)


async def _new(caller: Caller, seconds: float) -> Pending:
    """Take the new mail of the caller's session, waiting for it if there is none yet. Without a session nothing is
    shown as new, because that could not be recorded."""
    if caller.identity.session is None:
        return Pending(caller.identity.agent)
    if seconds > 0:
        await caller.services.attention.look(caller.identity, TERMS, seconds)
    pending = await caller.services.attention.take(caller.identity, READ_INBOX.name, TERMS)
    return pending._replace(others=(), more_others=0)


def _data(pending: Pending, open_lines: Sequence[str]) -> dict[str, Json]:
    return {
        "new": [
            {
                "number": letter.number,
                "id": letter.message_id,
                "from": letter.sender.agent,
                "grade": str(letter.sender.grade),
                "goal": letter.goal,
                "kind": str(letter.kind),
                "expects_reply": letter.expects_reply,
                "text": harmless(letter.text),
                "is_cut": letter.is_cut,
                "start": letter.start + 1,
                "length": letter.length,
                "task": task_entry(letter),
                "child": child_entry(letter, pending.ways),
            }
            for letter in pending.letters
        ],
        "left_out": pending.left_out.messages,
        "open": list(open_lines),
        "offer": pending.offer,
    }


READ_INBOX: Final = Tool(
    name="read_inbox",
    description=(
        "Read your new messages, and see which ones still wait for you or for an answer. With `message`: read that "
        "message and its whole conversation."
    ),
    parameters=(
        Parameter("message", "number of the message to read", ParameterType.MESSAGE),
        START,
        Parameter(
            "wait", f"seconds, 0 to {LONGEST_WAIT:.0f}, to wait for a message if there is none", ParameterType.NUMBER
        ),
    ),
    run=_run,
    is_read_only=True,
)
