"""Hidden characters: characters that a reader does not see, or that change how a text reads.

Control characters, bidirectional marks, zero-width and invisible characters become visible. Every kind of line break
becomes a newline. Joiners and variation selectors stay where scripts and emoji need them.
"""

import re
from typing import Final

_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\ufe0e\ufe0f"
_ALWAYS: Final = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # control characters, but for tabs and ends of lines
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
HIDDEN: Final = _ALWAYS + _JOINERS + _SELECTORS
"""Characters that may be hidden, for use between the brackets of a pattern."""

_SEEN: Final = f"[^\x00-\x7f\x85\u2028\u2029{HIDDEN}]"
"""A visible character outside ASCII. Joiners and selectors have an effect only beside such characters."""

_RUN: Final = re.compile(
    f"(?:[{_ALWAYS}]"
    f"|(?<!{_SEEN})[{_SELECTORS}](?!\u20e3)"  # a digit in a box is a digit, a selector and the box
    f"|(?<!{_SEEN})(?<!{_SEEN}[{_SELECTORS}])[{_JOINERS}]"
    f"|[{_JOINERS}](?!{_SEEN}))+"
)
_ASCII_RUN: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f]+")
"""Like `_RUN`, for ASCII texts: most texts are ASCII, and this pattern is far faster."""

_ANY: Final = re.compile(f"[{HIDDEN}]+")
_END_OF_LINE: Final = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def with_plain_ends(text: str) -> str:
    """Return a text with every kind of line break replaced by a newline."""
    return text if text.isprintable() else _END_OF_LINE.sub("\n", text)


def unbroken(text: str) -> str:
    """Return a text on one line, so that it can't begin a new line within a sentence of Covey."""
    return " ".join(with_plain_ends(text).split())


def visible(text: str) -> str:
    """Return a text with its hidden characters made visible."""
    return (_ASCII_RUN if text.isascii() else _RUN).sub(_shown, text)


def bare(text: str) -> str:
    """Return a text without characters that are or may be hidden."""
    return (_ASCII_RUN if text.isascii() else _ANY).sub("", text)


def _shown(run: re.Match[str]) -> str:
    hidden = run[0]
    return f"[U+{ord(hidden):04X}]" if len(hidden) == 1 else f"[{len(hidden)} hidden characters]"
