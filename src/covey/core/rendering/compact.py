"""The compact block, for hooks of agent clients: a line about each message, its body indented below."""

from collections.abc import Iterator

from covey.core.attention.pending import Instructions, Letter, Pending, cut_note, decide_note
from covey.core.names import AgentName
from covey.core.rendering.broadcast import status_of
from covey.core.rendering.peers import written_time
from covey.core.rendering.tasks import child_line, conversation_of, do_note, task_line, work_line
from covey.core.text.escape import harmless, one_line
from covey.core.text.wording import counted


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
