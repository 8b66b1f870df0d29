"""Echoes: whether what is said in a talk is new, or the same again with other courtesies."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, cast
from zlib import crc32

from covey.core.compact import to_json
from covey.core.courtesies import COURTESIES
from covey.core.json import Json
from covey.core.names import AgentName
from covey.core.parts import DataPart, FilePart, Part, text_of
from covey.core.times import format_instant, parse_instant

ROUNDS: Final = 4
"""So often each side may say nothing new before a talk is stopped."""

KEPT_GISTS: Final = 8
"""What was said before these may be said again."""

KEPT_TALKS: Final = 8
"""How many talks of a tree are followed at once."""

EVERYBODY: Final = "*"
"""The talk of those who write to several at once."""

SAME: Final = 0.7
"""From this share of common words on, two texts say the same."""

MAX_CHARS: Final = 2_000
MAX_THEME_CHARS: Final = 65_536
SKETCH: Final = 16
"""How many words stand for a text that has more."""

_MARKS: Final = 8
_WORD: Final = 4
"""Hexadecimal digits of the values that come first in a gist, and of each word after it."""

_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NUMBERED = re.compile(r"\w*\d\w*")


class Talk(NamedTuple):
    """Two agents that write to each other within a tree, or all who write there to several at once."""

    key: str
    stale: Mapping[str, int] = {}
    """How often each has said nothing new since anything new was said."""
    said: tuple[str, ...] = ()
    """The gists of what was new, the latest first."""
    stopped_at: datetime | None = None
    refused: int = 0


def talk_key(sender: AgentName, recipients: Collection[AgentName]) -> str:
    """Return which talk a message is part of."""
    return " ".join(sorted((sender, *recipients))) if len(recipients) == 1 else EVERYBODY


def gist(parts: tuple[Part, ...]) -> str:
    """Return what a message says, in a form that can be kept and compared: its data, files and numbers exactly, its
    words as a set without courtesies, case, punctuation and emoji."""
    words = _words_in(text_of(parts)[:MAX_CHARS])
    # Words with numbers in them stand for values: two batches are not the same because their texts are.
    marks = [word for word in words if not word.isalpha() and _DIGIT.search(word)]
    content = {*words} - COURTESIES - {*marks}
    marks += _values_in(parts)
    first = f"{_hash(' '.join(marks)):08x}" if marks else "0" * _MARKS
    return first + "".join(sorted(f"{_hash(word) & 0xFFFF:04x}" for word in content)[:SKETCH])


def theme(parts: tuple[Part, ...]) -> str:
    """Return a hash of a message's words, data and files, without courtesies and without the numbers in its text: a
    counter is nothing new. Two messages have the same theme if they say the same, to the word."""
    words = {*_words_in(_NUMBERED.sub(" ", text_of(parts)[:MAX_THEME_CHARS]))} - COURTESIES
    said = "\0".join((*sorted(words), "", *_values_in(parts)))
    return f"{_hash(said):08x}{_hash(said[::-1]):08x}"


def is_empty(text_gist: str) -> bool:
    """Tell whether a message says nothing at all but courtesies."""
    return text_gist == "0" * _MARKS


def is_alike(one: str, other: str) -> bool:
    """Tell whether two gists say nearly the same."""
    if one[:_MARKS] != other[:_MARKS]:
        return False
    a, b = _words_of(one), _words_of(other)
    # The smallest of both are a fair sample of all: what is in it of both says how much both have in common.
    sample = sorted(a | b)[:SKETCH]
    return len([word for word in sample if word in a and word in b]) >= SAME * len(sample)


def spoken(talk: Talk, sender: AgentName, said: str, now: datetime, *, is_due: bool = False) -> tuple[Talk, bool]:
    """Return the talk after a message, and whether the message belongs in it. It does not where its sender and somebody
    else have said nothing new for some rounds, and this says nothing new either; what is due does always."""
    marks = said[:_MARKS]  # most differ in them already
    alike = [earlier for earlier in talk.said if earlier.startswith(marks) and is_alike(said, earlier)]
    if not alike and not is_empty(said):
        return Talk(talk.key, {}, (said, *talk.said)[:KEPT_GISTS]), True
    if not is_due and _is_echo(talk, sender):
        return stopped(talk, now), False
    return talk._replace(stale={**talk.stale, sender: talk.stale.get(sender, 0) + 1}), True


def stopped(talk: Talk, now: datetime) -> Talk:
    """Return the talk after one more message of it was refused."""
    return talk._replace(stopped_at=talk.stopped_at or now, refused=talk.refused + 1)


def with_talk(talks: tuple[Talk, ...], talk: Talk) -> tuple[Talk, ...]:
    """Return the talks with this one as the latest; what is stopped is not forgotten for others."""
    others = [other for other in talks if other.key != talk.key]
    while len(others) >= KEPT_TALKS:
        idle = [other for other in others if other.stopped_at is None] or others
        others.remove(idle[-1])
    return (talk, *others)


def find_talk(talks: Iterable[Talk], key: str) -> Talk:
    """Return a talk, or one that has just begun."""
    return next((talk for talk in talks if talk.key == key), Talk(key))


def encode_talks(talks: Iterable[Talk]) -> Sequence[Json]:
    """Return talks as JSON data."""
    return [
        (talk.key, talk.stale, talk.said, talk.stopped_at and format_instant(talk.stopped_at), talk.refused)
        for talk in talks
    ]


def decode_talks(data: object) -> tuple[Talk, ...]:
    """Return talks from JSON data that this module made."""
    rows = cast(list[tuple[str, dict[str, int], list[str], str | None, int]], data)
    return tuple(
        Talk(key, stale, tuple(said), None if stopped is None else parse_instant(stopped), refused)
        for key, stale, said, stopped, refused in rows
    )


def _is_echo(talk: Talk, sender: AgentName) -> bool:
    others = [count for agent, count in talk.stale.items() if agent != sender]
    return talk.stale.get(sender, 0) >= ROUNDS and max(others, default=0) >= ROUNDS


def _words_in(text: str) -> Sequence[str]:
    if text.isascii():
        return _WORDS.findall(text.lower())
    return _WORDS.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))


def _values_in(parts: tuple[Part, ...]) -> list[str]:
    """Return what a message says besides its text."""
    files = sorted(part.digest for part in parts if isinstance(part, FilePart))
    return files + [to_json(part.data) for part in parts if isinstance(part, DataPart)]


def _words_of(text_gist: str) -> set[str]:
    return {text_gist[at : at + _WORD] for at in range(_MARKS, len(text_gist), _WORD)}


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))
