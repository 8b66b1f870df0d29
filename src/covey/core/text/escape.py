"""Escaping of others' texts and data: shown to a model, they can't close their frame, fake a header or pass as the
user.

Legible text stays legible. Hidden characters become visible, brackets that could open or close a tag are escaped as in
XML, and a body with a line that could be taken for structure (a heading, a fence, `Human:`) is quoted as a whole.

This is the only home of the rule. Prompts, results of tools, resources and errors pass through it: data through
`harmless_data`, bodies in a frame of their own through `enclosed`.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, cast

from covey.core.json import Json, JsonObject
from covey.core.text.hidden import HIDDEN, bare, unbroken, visible, with_plain_ends

_MARKS: Final = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u200c\u200d\ufe0e\ufe0f]"
)
_TWINS: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝᴦԌв"  # Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεινορυτκ"  # Greek
    "ıɪʜʟɴʀʏʙɢꜱꜰᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢɑɡℓ"  # small capitals and the like
    "꞉∶ː˸։׃：﹕︓",  # colons
    "ABESIJKMHOPCTYXaesijopcyxhdqwrGbABEZHIKMNOPTYXaeivopvtkiihlnrybgsfacdejkmoptuvwzagl:::::::::",
)


def as_it_looks(text: str) -> str:
    """Return a text with look-alike characters replaced by plain letters. The number of lines stays the same."""
    plain = unicodedata.normalize("NFKD", text).translate(_TWINS)
    return _MARKS.sub("", plain)


_BRACKETS: Final = "＜﹤‹〈〈⟨ᐸ˂❮❰⧼⦑"
"""Characters that look like <."""
_SLASHES: Final = r"/\\|!?／∕⁄⧸⟋╱"
"""Characters that can follow < in a tag, a comment or a special token, and their look-alikes."""
_LETTERS: Final = "A-Za-z_\u00c0-\u052f\u1d00-\u1eff\uff21-\uff5a\U0001d400-\U0001d7ff"
_BETWEEN: Final = f"\u0300-\u036f\u20d0-\u20ff{HIDDEN}"
"""Marks and hidden characters, which may stand between a bracket and the next character."""
_OPENING: Final = re.compile(
    rf"<(?=[{_BETWEEN}]*[^\W\d]|[\s{_BETWEEN}]*[{_SLASHES}])"
    rf"|[{_BRACKETS}](?=[{_BETWEEN}]*[{_LETTERS}]|[\s{_BETWEEN}]*[{_SLASHES}])"
)
_ENTITY: Final = re.compile(r"&(?=(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-f]{1,6});)", re.IGNORECASE)

_ROLES: Final = (
    "human|user|system|assistant|developer|tool|function|model|ai|claude|chatgpt|gpt|operator|covey|inst|sys|"
    "instructions?|admin(?:istrator)?"
)
_TOKEN: Final = re.compile(rf"\[(?=\s{{0,8}}/?\s{{0,8}}(?:{_ROLES})\s{{0,8}}\])", re.IGNORECASE)
_BLANK: Final = r"[^\w\x00-\x7f]"
"""Blanks of other scripts (U+1680, U+2800 …), bullets and other signs, which a reader ignores."""
# Two unbounded repetitions that match the same characters would take quadratic time: hence the bounds.
_STRUCTURE: Final = re.compile(
    rf"^(?:[ \t>*+.)\d-]|{_BLANK})*(?:\#|`{{3}}|~{{3}})"  # headings and fences, within lists and quotes too
    rf"|^(?:[ \t]|{_BLANK})*(?:={{3,}}|-{{3,}}|\*{{3,}}|_{{3,}})(?:[ \t]|{_BLANK})*$"  # rules and underlines
    rf"|^(?:[^\w\n]|_)*(?:{_ROLES})(?:[ _-]?(?:message|prompt|turn|input|note|reminder|says|said))?"
    r"(?:[ \t]*\([^)\n]{0,40}\))?[^\w\n]{0,4}:"  # turns of a conversation
    rf"|^[^\w\n]{{0,20}}[\[({{【〔「][^\w\n]{{0,8}}(?:{_ROLES})[^\w\n]{{0,8}}[\])}}】〕」]",
    re.MULTILINE | re.IGNORECASE,
)


@lru_cache(maxsize=128)
def harmless(text: str) -> str:
    """Return a body, escaped for a frame. The cache helps within one turn, in which a body is measured and
    rendered."""
    text = with_plain_ends(text)
    return _quoted(text, contained(_ENTITY.sub("&amp;", text)))


def still_harmless(text: str) -> str:
    """Return a text, escaped for a frame. Unlike `harmless`, leave a text unchanged that was escaped before."""
    text = with_plain_ends(text)
    return _quoted(text, contained(text))


def contained(text: str) -> str:
    """Return a text with hidden characters made visible, and with tags and special tokens escaped. It is for texts that
    mix lines of Covey and of other agents. The caller must have made the latter `harmless`: this function quotes
    nothing."""
    text = _OPENING.sub(_written_out, text)
    return visible(_TOKEN.sub("&#91;", text))


def one_line(text: str) -> str:
    """Return a name or a status, escaped for use within a line."""
    return harmless(unbroken(text))


def attribute(text: str) -> str:
    """Return a text, escaped for use between the quotes of an attribute."""
    line = unbroken(visible(with_plain_ends(text)))
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _quoted(text: str, shown: str) -> str:
    """Return `shown`, quoted if the original text has a line that could be taken for structure."""
    looks = text if text.isascii() and text.isprintable() else as_it_looks(bare(text))
    if not _STRUCTURE.search(looks):
        return shown
    lines = shown.split("\n")
    return shown if all(line.startswith(">") for line in lines) else "\n".join(f"> {line}".rstrip() for line in lines)


def _written_out(bracket: re.Match[str]) -> str:
    return "&lt;" if bracket[0] == "<" else f"&#x{ord(bracket[0]):X};"


def enclosed(tag: str, text: str, **named: str) -> str:
    """Return a text between an opening tag with these attributes and a closing tag. The text can't close the frame."""
    attributes = "".join(f' {name.rstrip("_")}="{attribute(value)}"' for name, value in named.items() if value)
    return f"<{tag}{attributes}>\n{harmless(text)}\n</{tag}>"


def harmless_data(value: Json) -> Json:
    """Return data with every text and every key made harmless. A text that is harmless already stays unchanged."""
    if isinstance(value, str):
        return still_harmless(value)
    if isinstance(value, Mapping):
        return harmless_object(value)
    if isinstance(value, list | tuple):
        return [harmless_data(item) for item in cast(Sequence[Json], value)]
    return value


def harmless_object(fields: JsonObject) -> dict[str, Json]:
    """Return an object with every text and every key made harmless."""
    return {still_harmless(name): harmless_data(value) for name, value in fields.items()}
