"""Text for a terminal: the characters that may reach it, their width in cells, and text that fits."""

from collections.abc import Mapping, Sequence
from typing import Final

NEWER_EMOJI: Final = range(0x1F000, 0x1FB00)
"""The range in which emoji are still added. Characters that this Python does not know count as emoji too."""

_SKIN_TONES: Final = range(0x1F3FB, 0x1F400)
_TAKEN_OUT: Final[Mapping[int, str]] = {
    **dict.fromkeys((0xAD, 0x200C, 0x200D, *range(0xFE00, 0xFE10)), ""),  # joiners: terminals differ in their width
    **dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x2028, 0x2029), " "),
    0x3000: "  ",
}
_UNSEEN: Final = frozenset(
    (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, *range(0xFE00, 0xFE10), 0xFFA0)
)
_MORE_UNSEEN: Final = range(0xE0000, 0xE1000)
"""Characters that count as printable but are invisible."""


def printable(text: str) -> str:
    """Return text without characters that could control a terminal: control, bidirectional and invisible ones."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in "\n\t" or _is_harmless(c) else "�" for c in text.translate(_TAKEN_OUT))


def escaped(document: str) -> str:
    """Return JSON in which control and invisible characters are written as `\\uXXXX`.

    The value stays the same.
    """
    if document.isascii() and document.isprintable():
        return document
    return "".join(c if _is_harmless(c) else _code_units(c) for c in document)


def one_line(text: str) -> str:
    """Return text on one line."""
    return " ".join(text.split())


def clipped(text: str, length: int) -> str:
    """Return text of at most `length` characters, with an ellipsis for the rest."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def fitted(text: str, width: int) -> str:
    """Return a line that takes at most `width` cells, with an ellipsis for the rest."""
    if cells(text) <= width:
        return text
    room = width - 1
    end = 0
    while end < len(text) and (room := room - cells(text[end])) >= 0:
        end += 1
    return text[:end].rstrip() + "…"


def wrapped(text: str, width: int, most: int) -> Sequence[str]:
    """Return a text without control characters in at most `most` lines of `width` cells, with an ellipsis for the
    rest."""
    lines: list[str] = []
    rest = printable(clipped(one_line(text), (width + 1) * most + 1))
    while cells(rest) > width and len(lines) < most - 1:
        end = next(n for n in range(len(rest), 0, -1) if cells(rest[:n]) <= width or n == 1)
        cut = end if rest[end] == " " else rest.rfind(" ", 0, end)
        lines.append(rest[: cut if cut > 0 else end])
        rest = rest[len(lines[-1]) :].lstrip()
    return [*lines, fitted(rest, width)]


def reflowed(text: str, width: int) -> str:
    """Return text with its paragraphs filled to a width. Indented lines stay as they are."""
    from textwrap import fill

    blocks: list[str] = []
    paragraph: list[str] = []
    for line in (*text.splitlines(), ""):
        if line and not line.startswith(" "):
            paragraph.append(line)
            continue
        if paragraph:
            blocks.append(fill(" ".join(paragraph), width, break_long_words=False, break_on_hyphens=False))
            paragraph = []
        blocks.append(line)
    return "\n".join(blocks).rstrip("\n")


def cells(text: str) -> int:
    """Return the number of terminal cells that a line takes."""
    return len(text) if text.isascii() else sum(_width(c) for c in text)


def _is_harmless(character: str) -> bool:
    code = ord(character)
    is_unseen = code in _UNSEEN or code in _MORE_UNSEEN
    return (character.isprintable() or code in NEWER_EMOJI) and not is_unseen


def _code_units(character: str) -> str:
    """Return a character as JSON escapes it. Characters above U+FFFF need two escapes."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def _width(character: str) -> int:
    from unicodedata import category, east_asian_width

    if ord(character) in _SKIN_TONES or category(character) in ("Mn", "Me", "Cf"):
        return 0
    is_new = ord(character) in NEWER_EMOJI and category(character) == "Cn"
    return 2 if is_new or east_asian_width(character) in ("W", "F") else 1
