"""The broadcast style: the result of a synthetic `broadcast` call, with the other agents, their messages and a hint."""

from typing import Final

from covey.core.attention.pending import Instructions, Letter, OtherAgent, Pending, cut_note, decide_note
from covey.core.json import Json, JsonObject, to_json
from covey.core.ledger.message import Kind
from covey.core.names import AgentName
from covey.core.rendering.tasks import TAG, child_entry, conversation_of, do_note, task_entry, work_fields
from covey.core.text.escape import harmless, one_line

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
