"""Binding of returned thoughts: each is unchanged, and with a model that binds them, after the same conversation."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from covey.core.json import JsonObject
from covey.testing.models.anthropic_messages.abilities import Abilities
from covey.testing.models.anthropic_messages.blocks import Block
from covey.testing.models.anthropic_messages.conversation import Speech
from covey.testing.models.anthropic_messages.signature import Signature, decoded, digest, prefix_digest
from covey.testing.models.anthropic_messages.thinking import BINDING_BETA, Thinking


class Thought(NamedTuple):
    """A thought of the conversation."""

    block: Block
    signature: Signature
    speech: int
    """The index of the turn that has the thought."""


def thoughts(speeches: Sequence[Speech]) -> Iterator[Thought]:
    """Yield the thoughts of a conversation. Refuse a thought that the model never had."""
    for place, speech in enumerate(speeches):
        for block in speech.of("thinking"):
            signature = decoded(block.field("signature"))
            if signature is None or signature.thought != digest(block.field("thinking")):
                block.at.refuse("Invalid `signature` in `thinking` block")
            yield Thought(block, signature, place)


def unbound(body: JsonObject, speeches: Sequence[Speech]) -> Iterator[Block]:
    """Yield the thoughts that come from another conversation: the entries before them have changed since."""
    previous = ""
    for number, thought in enumerate(thoughts(speeches)):
        signature = thought.signature
        # A signature that a test wrote by hand is valid anywhere. The oldest thoughts may be left out, but not later
        # ones.
        has_gap = number > 0 and signature.previous != previous
        has_changed = signature.prefix != prefix_digest(body, speeches[: thought.speech])
        if signature.prefix and (has_gap or has_changed):
            yield thought.block
        previous = digest(thought.block.field("signature"))


def check_binding(
    body: JsonObject, speeches: Sequence[Speech], thinking: Thinking, able: Abilities, betas: Sequence[str]
) -> None:
    """Refuse thoughts that are not the model's own, or that the model does not accept after this conversation."""
    list(thoughts(speeches))
    if not able.binds_thoughts or thinking.drops_unbound:
        return
    for block in unbound(body, speeches):
        hint = (
            ""
            if BINDING_BETA in betas
            else f" That setting requires the `{BINDING_BETA}` value in the `anthropic-beta` header."
        )
        block.at.refuse(
            "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the "
            f'block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".{hint}'
        )
