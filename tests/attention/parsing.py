"""Strict parsers of the renderings, written from their description and not from their code.

Each parser takes a rendering apart or fails. `assert_harmless` fails if a careless reader could take a foreign text for
more than text.
"""

import html
import json
import re
import unicodedata
from typing import Any, NamedTuple

FRAME = '<covey-mail note="from other agents, not from the user">'
OPENING = re.compile(r'<peer-message((?: [a-z_]+="[^"<>\n]*")+)>')
ATTRIBUTE = re.compile(r' ([a-z_]+)="([^"]*)"')
TAG = re.compile(r"<(?:[^\W\d]|\s*[/!?|])")
TURN = re.compile(r"[^\w\n]*(?:human|user|system|assistant|developer|operator)[^\w\n]{0,3}:", re.IGNORECASE)
HEADING = re.compile(r"(?:\s|[^\w\x00-\x7f])*(?:#|```|~~~)")
"""A heading or fence, also behind characters that look blank, such as U+2800."""
MARKER = re.compile(r"\[(?:U\+[0-9A-F]{4,6}|\d+ hidden characters)\]")
"""A marker that stands for a hidden character. A careless reader overlooks it."""

COMPACT_HEAD = re.compile(r"#(\d+) (\w+) from (.+?) \((token|session|claimed|space)\) at (\S+)(.*)")


class Parsed(NamedTuple):
    attributes: dict[str, str]
    body: str


def unframed(text: str) -> str:
    """Return the text inside the frame."""
    assert text.startswith(FRAME + "\n")
    assert text.endswith("\n</covey-mail>")
    assert text.count("<covey-mail") == text.count("</covey-mail") == 1
    return text[len(FRAME) + 1 : -len("\n</covey-mail>")]


def parse_peers(block: str) -> tuple[list[Parsed], list[str]]:
    """Return the messages of a block, and the lines after them."""
    header, *lines = block.split("\n")
    assert header == "# PEER MESSAGES"
    messages: list[Parsed] = []
    at = 0
    while at < len(lines) and lines[at].startswith("<peer-message"):
        opening = OPENING.fullmatch(lines[at])
        assert opening, lines[at]
        attributes = {name: html.unescape(value) for name, value in ATTRIBUTE.findall(opening[1])}
        end = lines.index("</peer-message>", at)
        messages.append(Parsed(attributes, "\n".join(lines[at + 1 : end])))
        at = end + 1
    return messages, lines[at:]


def parse_broadcast(block: str) -> dict[str, Any]:
    """Return the result that a block of two lines contains."""
    title, document = block.split("\n")
    assert re.fullmatch(r"\[broadcast\] \d+ agent\(s\), \d+ message\(s\)", title)
    return json.loads(document)


def parse_compact(block: str) -> tuple[list[Parsed], list[str]]:
    """Return the messages of a block, and the other lines at the margin."""
    messages: list[Parsed] = []
    bodies: list[list[str]] = []
    ours: list[str] = []
    for line in block.split("\n"):
        if line.startswith("  "):
            if not ours[-1].startswith("Other agents:"):
                bodies[-1].append(line[2:])
        elif head := COMPACT_HEAD.fullmatch(line):
            number, kind, sender, grade, sent_at, rest = head.groups()
            messages.append(
                Parsed(
                    {"number": number, "kind": kind, "from": sender, "grade": grade, "sent_at": sent_at, "rest": rest},
                    "",
                )
            )
            bodies.append([])
        else:
            ours.append(line)
    return [message._replace(body="\n".join(body)) for message, body in zip(messages, bodies, strict=True)], ours


def assert_harmless(text: str) -> None:
    """Fail if a text could be taken for more than text."""
    hidden = [f"U+{ord(char):04X}" for char in _odd(text) if is_hidden(char, text)]
    assert not hidden, (hidden, text)
    looks = MARKER.sub("", unicodedata.normalize("NFKC", text))
    assert not TAG.search(looks), text
    for line in looks.split("\n"):
        assert not HEADING.match(line), text
        assert line.startswith(">") or not TURN.match(line), text


def _odd(text: str) -> set[str]:
    return {char for char in text if not (" " <= char <= "~")} if not (text.isascii() and text.isprintable()) else set()


def is_hidden(char: str, text: str) -> bool:
    if char in "\n\t":
        return False
    if char in "\u200c\u200d\ufe0e\ufe0f":
        # Legitimate between characters that are not ASCII, and in keycap emoji.
        return (
            re.search(f"(?:^|[\x00-\x7f]){char}(?!\u20e3)|\u200d$|\u200c$|[\u200c\u200d][\x00-\x7f]", text) is not None
        )
    is_control = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    return (
        is_control
        or char in "\u034f\u115f\u1160\u3164\uffa0"
        or "\ufe00" <= char <= "\ufe0d"
        or "\U000e0100" <= char <= "\U000e01ef"
    )
