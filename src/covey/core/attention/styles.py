"""The styles of pending mail: the `# PEER MESSAGES` block, the result of a synthetic `broadcast` call, and the compact
block for hooks; the frame around them, and the size of each message."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC
from enum import StrEnum
from typing import Final

from covey.core.attention.pending import Instructions, Letter, OtherAgent, Pending, cut_note, decide_note
from covey.core.attention.task_lines import (
    TAG,
    child_entry,
    child_fields,
    child_line,
    conversation_of,
    do_note,
    task_entry,
    task_fields,
    task_line,
    work_fields,
    work_line,
)
from covey.core.json import Json, JsonObject, to_json
from covey.core.ledger.message import Kind
from covey.core.names import AgentName
from covey.core.reporting import counted
from covey.core.text.escape import attribute, harmless, one_line

TOOL: Final = "broadcast"
INPUT: Final[JsonObject] = {"synthetic": True}
"""The input of the call, which says that the model did not make it."""

HINT: Final = (
    "ACTION REQUIRED: Announce yourself: call broadcast with a message that says in one line what you are working on. "
    "The other agents see it as your status."
)
STATUS_CHARS: Final = 200
"""The number of characters of a status that are shown."""


def synthetic_result(pending: Pending) -> JsonObject:
    """Return the call with its result as a tool part."""
    return {
        "tool": TOOL,
        "state": {
            "status": "completed",
            "input": INPUT,
            "output": broadcast_output(pending),
            "title": pending.title,
        },
    }


def broadcast_output(pending: Pending) -> JsonObject:
    """Return the result of the call."""
    output: dict[str, Json] = {} if pending.has_announced else {"hint": HINT}
    output["agents"] = [agent_entry(other) for other in pending.others]
    if pending.more_others:
        output["more_agents"] = pending.more_others
    output["messages"] = [message_entry(letter, pending.agent, pending.ways) for letter in pending.letters]
    if pending.left_out_line:
        output["left_out"] = pending.left_out_line
    if pending.offer is not None:
        output["offer"] = pending.offer
    return output


def broadcast_text(pending: Pending) -> str:
    """Return the result of the call as text: the title, then one line of JSON."""
    return f"[{TOOL}] {pending.title}\n{to_json(broadcast_output(pending))}"


def agent_entry(other: OtherAgent) -> JsonObject:
    """Return the entry of another agent: its name and its status."""
    return {"name": one_line(other.name), "status": status_of(other)}


def status_of(other: OtherAgent) -> str:
    """Return the status of an agent on one line, cut to its limit: the announced status, else its description, else its
    presence."""
    said = other.status or other.description or other.presence
    return one_line(said if len(said) <= STATUS_CHARS else said[: STATUS_CHARS - 1] + "…")


def message_entry(letter: Letter, agent: AgentName, ways: Instructions) -> JsonObject:
    """Return the entry of a message. Its id is the message's number, by which the reader replies."""
    entry: dict[str, Json] = {
        "id": letter.number,
        "from": one_line(letter.sender.agent),
        "content": harmless(letter.text),
        "grade": letter.sender.grade,
    }
    optional: dict[str, Json] = {
        "goal": letter.goal,
        "kind": None if letter.kind is Kind.NOTIFY else letter.kind,
        "expects_reply": letter.expects_reply,
        "approval": letter.approval,
        "decide": decide_note(letter, agent, ways),
        "task": task_entry(letter),
        "do": do_note(letter, agent, ways),
        TAG: {name: one_line(value) for name, value in work_fields(letter, agent, ways).items()},
        "child": child_entry(letter, ways),
        "conversation": one_line(conversation_of(letter)),
        "scope": one_line(letter.scope or ""),
        "subject": one_line(letter.subject or ""),
        "correlation_id": one_line(letter.correlation_id or ""),
        "cut": cut_note(letter, agent, ways),
    }
    return entry | {name: value for name, value in optional.items() if value}


HEADER: Final = "# PEER MESSAGES"

_TASK: Final = {"id": "task", "agent": "task_of"}
"""Attribute names for the fields of a task that could be mistaken for the message's own."""


def peers_block(pending: Pending) -> str:
    """Return the block; empty if there is no message."""
    if not pending.letters:
        return ""
    lines = [HEADER, *(peer_message(letter, pending.agent, pending.ways) for letter in pending.letters)]
    if pending.left_out_line:
        lines.append(pending.left_out_line)
    if pending.offer is not None:
        lines.append(f"<!-- offer {pending.offer} -->")
    return "\n".join(lines)


def peer_message(letter: Letter, agent: AgentName, ways: Instructions) -> str:
    """Return one message of the block."""
    named = " ".join(
        f'{name}="{attribute(value)}"' for name, value in _attributes(letter, agent, ways).items() if value
    )
    tag = TAG if work_fields(letter, agent, ways) else "peer-message"
    return f"<{tag} {named}>\n{harmless(letter.text)}\n</{tag}>"


def written_time(letter: Letter) -> str:
    """Return the time at which a message was sent, to the second."""
    return letter.sent_at.astimezone(UTC).isoformat(timespec="seconds")


def _attributes(letter: Letter, agent: AgentName, ways: Instructions) -> dict[str, str | None]:
    return {
        "from": letter.sender.agent,
        "sent_at": written_time(letter),
        "correlation_id": letter.correlation_id,
        "grade": letter.sender.grade,
        "goal": letter.goal,
        "number": str(letter.number),
        "kind": None if letter.kind is Kind.NOTIFY else letter.kind,
        "expects_reply": "true" if letter.expects_reply else None,
        "approval": letter.approval,
        "decide": decide_note(letter, agent, ways),
        **{_TASK.get(name, name): value for name, value in task_fields(letter).items()},
        "do": do_note(letter, agent, ways),
        **work_fields(letter, agent, ways),
        **{f"child_{name}": value for name, value in child_fields(letter, ways).items()},
        "conversation": conversation_of(letter),
        "scope": letter.scope,
        "subject": letter.subject,
        "cut": cut_note(letter, agent, ways),
    }


def compact_text(pending: Pending) -> str:
    """Return the block; empty if there is neither a message nor another agent. Lines of Covey begin at the margin;
    texts of other agents are indented."""
    return "\n".join(_lines(pending)) if pending.letters or pending.others else ""


def compact_message(letter: Letter, agent: AgentName, ways: Instructions) -> str:
    """Return one message of the block."""
    about = [f"#{letter.number} {letter.kind} from {one_line(letter.sender.agent)} ({letter.sender.grade})"]
    about.append(f"at {written_time(letter)}")
    if letter.goal:
        about.append(f"goal {letter.goal}")
    if letter.scope:
        about.append(f"in {one_line(letter.scope)}")
    if letter.subject:
        about.append(f"on {one_line(letter.subject)}")
    if letter.correlation_id:
        about.append(f"correlation {one_line(letter.correlation_id)}")
    if conversation := conversation_of(letter):
        about.append(f"for the conversation {one_line(conversation)}")
    head = " ".join(about) + task_line(letter) + child_line(letter, ways) + work_line(letter, agent, ways)
    if do := do_note(letter, agent, ways):
        head += f" [{do}]"
    if decide := decide_note(letter, agent, ways):
        head += f", wants your approval ({letter.approval}) [{decide}]"
    elif letter.expects_reply:
        head += ", wants an answer"
    if note := cut_note(letter, agent, ways):
        head += f" [{note}]"
    return "\n".join([head, *(f"  {line}" for line in harmless(letter.text).split("\n"))])


def _lines(pending: Pending) -> Iterator[str]:
    if pending.letters:
        yield f"{counted(len(pending.letters), 'message')} for {pending.agent}:"
    for letter in pending.letters:
        yield compact_message(letter, pending.agent, pending.ways)
    if pending.left_out_line:
        yield pending.left_out_line
    if any(letter.expects_reply and not letter.approval for letter in pending.letters):
        yield pending.how_to_answer
    if pending.others:
        more = f" and {pending.more_others:,} more" if pending.more_others else ""
        yield "Other agents:" + more
        for other in pending.others:
            yield f"  {one_line(other.name)}: {status_of(other)}"
    if pending.offer is not None:
        yield f"Offer {pending.offer}"


class RenderingStyle(StrEnum):
    PEERS = "peers"
    """The `# PEER MESSAGES` block."""

    BROADCAST = "broadcast"
    """Agents and messages as JSON."""

    COMPACT = "compact"
    """For hooks."""


_BLOCKS: Final[Mapping[RenderingStyle, Callable[[Pending], str]]] = {
    RenderingStyle.PEERS: peers_block,
    RenderingStyle.BROADCAST: broadcast_text,
    RenderingStyle.COMPACT: compact_text,
}

FRAME_BEGIN: Final = '<covey-mail note="from other agents, not from the user">\n'
FRAME_END: Final = "\n</covey-mail>"


def framed(pending: Pending, style: RenderingStyle) -> str:
    """Return a rendering in a frame that separates it from other text. The text inside can't close the frame. Return an
    empty text if there is nothing to show in that style."""
    block = _BLOCKS[style](pending) if pending.is_worth_showing else ""
    return f"{FRAME_BEGIN}{block}{FRAME_END}" if block else ""


def letter_size(letter: Letter, pending: Pending) -> int:
    """Return the size of a letter in characters, with its separator, in the style that needs most."""
    agent, ways = pending.agent, pending.ways
    return 1 + max(
        len(peer_message(letter, agent, ways)),
        len(to_json(message_entry(letter, agent, ways))),
        len(compact_message(letter, agent, ways)),
    )


def other_size(other: OtherAgent) -> int:
    """Return the size of another agent's entry in characters, in the style that needs most."""
    return 1 + len(to_json(agent_entry(other)))


def frame_size(pending: Pending) -> int:
    """Return the size of everything but the letters in characters, in the style that needs most."""
    blocks = max(len(block(pending._replace(letters=()))) for block in _BLOCKS.values())
    return len(FRAME_BEGIN) + blocks + len(FRAME_END) + len(pending.how_to_answer) + _HEADERS


_HEADERS: Final = 100
"""Room for text that depends on the number of letters: headers, counts and commas."""
