"""The `# PEER MESSAGES` block: each message in a tag with its sender, its time and the sender's grade."""

from datetime import UTC
from typing import Final

from covey.core.attention.pending import Instructions, Letter, Pending, cut_note, decide_note
from covey.core.ledger.message import Kind
from covey.core.names import AgentName
from covey.core.rendering.tasks import TAG, child_fields, conversation_of, do_note, task_fields, work_fields
from covey.core.text.escape import attribute, harmless

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
