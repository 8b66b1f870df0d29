"""Renderings of pending mail: the styles, the frame around them, and the size of each message."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from covey.core.attention.pending import Letter, OtherAgent, Pending
from covey.core.json import to_json
from covey.core.rendering.broadcast import agent_entry, broadcast_text, message_entry
from covey.core.rendering.compact import compact_message, compact_text
from covey.core.rendering.peers import peer_message, peers_block


class Style(StrEnum):
    PEERS = "peers"
    """The `# PEER MESSAGES` block."""

    BROADCAST = "broadcast"
    """Agents and messages as JSON."""

    COMPACT = "compact"
    """For hooks."""


_BLOCKS: Final[Mapping[Style, Callable[[Pending], str]]] = {
    Style.PEERS: peers_block,
    Style.BROADCAST: broadcast_text,
    Style.COMPACT: compact_text,
}

FRAME_BEGIN: Final = '<covey-mail note="from other agents, not from the user">\n'
FRAME_END: Final = "\n</covey-mail>"


def framed(pending: Pending, style: Style) -> str:
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
