"""Conversations: the messages of a request, merged into turns, with the order of roles checked."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from covey.testing.models.anthropic_messages.abilities import Abilities
from covey.testing.models.anthropic_messages.blocks import SERVER_RESULTS, Block, read_blocks
from covey.testing.models.cursor import Cursor


class Speech(NamedTuple):
    """One turn: consecutive messages of one role, merged."""

    role: str
    blocks: tuple[Block, ...]
    at: Cursor
    """The first message of the turn."""

    def of(self, *types: str) -> list[Block]:
        """Return the turn's blocks of these types."""
        return [block for block in self.blocks if block.type in types]

    @property
    def is_paused(self) -> bool:
        """True if the turn ends in the result of a provider's own tool. Such a turn goes on."""
        return bool(self.blocks) and self.blocks[-1].type in SERVER_RESULTS


def read_conversation(body: Cursor, able: Abilities, *, has_betas: bool) -> list[Speech]:
    """Read the messages. Refuse them if they are no valid conversation."""
    messages = body.need("messages").items()
    if not messages:
        body.need("messages").refuse("at least one message is required")
    speeches = [_read(message, able, has_betas) for message in messages]
    for place, speech in enumerate(speeches):
        is_last = place == len(speeches) - 1
        if not speech.blocks and not (is_last and speech.role == "assistant") and not _sets_effort_only(speech):
            speech.at.refuse("all messages must have non-empty content except for the optional final assistant message")
    merged = _merged([speech for speech in speeches if not _sets_effort_only(speech)])
    _check_order(merged, body)
    return merged


def _read(message: Cursor, able: Abilities, has_betas: bool) -> Speech:
    role = message.need("role").one_of("user", "assistant", "system")
    if role == "system" and not able.takes_system_turns:
        message.refuse("role 'system' is not supported on this model")
    extra = {"clear_at", "output_config"} if has_betas and role == "system" else set[str]()
    message.only({"role", "content", *extra})
    return Speech(role, tuple(read_blocks(message.need("content"), role, has_betas=has_betas)), message)


def _sets_effort_only(speech: Speech) -> bool:
    return speech.role == "system" and not speech.blocks and speech.at.get("output_config") is not None


def _merged(speeches: Sequence[Speech]) -> list[Speech]:
    merged: list[Speech] = []
    for role, group in groupby(speeches, key=lambda speech: speech.role):
        first, *rest = group
        merged.append(Speech(role, sum((speech.blocks for speech in rest), first.blocks), first.at))
    return merged


def _check_order(speeches: Sequence[Speech], body: Cursor) -> None:
    if speeches and speeches[0].role != "user":
        body.need("messages").refuse('first message must use the "user" role')
    for before, speech in pairwise(speeches):
        if speech.role == "system" and before.role != "user" and not before.is_paused:
            speech.at.refuse("a system message must immediately follow a user turn")
        if before.role == "system" and speech.role != "assistant":
            before.at.refuse("a system message must precede an assistant turn or end the conversation")
