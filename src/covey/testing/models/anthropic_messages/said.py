"""What the model says of a turn: its thoughts signed, left out where thinking is off, and added where one is due."""

from collections.abc import Iterator, Sequence

from covey.core.json import JsonObject
from covey.testing.models.anthropic_messages.answer import Said, Signed
from covey.testing.models.anthropic_messages.binding import thoughts
from covey.testing.models.anthropic_messages.check import Checked
from covey.testing.models.anthropic_messages.conversation import Speech
from covey.testing.models.anthropic_messages.signature import Signature, digest, prefix_digest
from covey.testing.models.script import Part, Thought


def said(parts: Sequence[Part], checked: Checked, body: JsonObject) -> Iterator[Said]:
    """Go through what is said."""
    thinking, speeches = checked.thinking, checked.speeches
    prefix = prefix_digest(body, speeches)
    previous = _latest(speeches)
    for part in _with_first_thought(parts, checked):
        if isinstance(part, Thought):
            if thinking.is_on:
                text = "" if thinking.omits_text else part.text
                signature = Signature(digest(text), prefix, previous).encoded()
                previous = digest(signature)
                yield Signed(text, signature)
        else:
            yield part


def _with_first_thought(parts: Sequence[Part], checked: Checked) -> Sequence[Part]:
    """Thinking by a budget, a model begins every turn of its own with a thought."""
    goes_on = bool(checked.speeches[-1].of("tool_result"))
    has_thought = any(isinstance(part, Thought) for part in parts)
    if checked.thinking.mode != "enabled" or goes_on or has_thought:
        return parts
    return [Thought("Let me think."), *parts]


def _latest(speeches: Sequence[Speech]) -> str:
    latest = ""
    for thought in thoughts(speeches):
        latest = digest(thought.block.field("signature"))
    return latest
