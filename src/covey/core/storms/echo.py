"""Echo detection: telling new messages in a talk from repetitions with other courtesies."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, cast
from zlib import crc32

from covey.core.json import Json, to_json
from covey.core.ledger.message import DataPart, FilePart, Part, text_of
from covey.core.names import AgentName
from covey.core.times import format_instant, parse_instant

_GRAMMAR: Final = """
a about all always am an and any anything are as at be been but by can could did do does don't else end everything for
from further get got had has have he her here hers him his how i i'd i'll i'm i've if in is it it's its just let let's
like may me might mine more much must my of on once or our out over please shall she should side so some soon such
than that that's the their them then there these they this those to too up us very was we we'd we'll we're we've were
what when which while who will with would you you'd you'll you're you've your yours
"""

_POLITENESS: Final = """
absolutely acknowledge acknowledged acknowledgement acknowledging affirmative again agree agreed agreement aligned
already alright amazing anytime appreciate appreciated appreciation assist assistance available await awaiting awaits
awesome best bye care certainly cheers clear collaborate collaborating collaboration confirm confirmation confirmed
confirming congratulations continue cool copy course day definitely delighted discussed done enjoy exactly excellent
excited exciting fantastic feel fine forward free glad good goodbye grateful great greatly happy hear hello help
helped helpful helping hesitate hey hi hope hoping indeed instructions keep kind know later likewise look looking
looks love lovely luck moving need needed next nice noted ok okay perfect perfectly pleasure posted proceed proceeding
progress question questions reach reached ready really receipt receive received regards rest right roger same see
seeing set smooth smoothly sound sounds standing stay steps success support supporting sure talk team terrific thank
thankful thanks things thrilled time together touch understood update updates wait waiting welcome well whenever
wonderful work worked working works worries worry wow yeah yep yes
"""

_ELSEWHERE: Final = """
danke dir gern gerne bitte merci rien gracias nada obrigado grazie prego 谢谢 不客气 好的 收到 ありがとう 了解
"""

COURTESIES: Final = frozenset(f"{_GRAMMAR} {_POLITENESS} {_ELSEWHERE}".split())
"""Function words of English, and the words of polite phrases, some of them in other languages."""

ROUNDS: Final = 4
"""The number of messages without news that each side may send before a talk is stopped."""

KEPT_GISTS: Final = 8
"""The number of gists that are kept. Messages from before these may be repeated."""

KEPT_TALKS: Final = 8
"""The number of talks that are followed at once in a tree."""

EVERYBODY: Final = "*"
"""The key of the talk for messages to several recipients."""

SAME: Final = 0.7
"""The share of common words from which on two texts count as the same."""

MAX_CHARS: Final = 2_000
MAX_THEME_CHARS: Final = 65_536
SKETCH: Final = 16
"""The number of words that stand for a longer text."""

_MARKS: Final = 8
_WORD: Final = 4
"""The number of hexadecimal digits in a gist: of the hash over all values, which comes first, and of each word."""

_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NUMBERED = re.compile(r"\w*\d\w*")


class Talk(NamedTuple):
    """The messages between two agents within a causal tree, or all messages there with several recipients."""

    key: str
    stale: Mapping[str, int] = {}
    """For each agent, the number of its messages without news since the last new message."""
    said: tuple[str, ...] = ()
    """The gists of the new messages, the latest first."""
    stopped_at: datetime | None = None
    refused: int = 0


def talk_key(sender: AgentName, recipients: Collection[AgentName]) -> str:
    """Return the key of the talk that a message belongs to."""
    return " ".join(sorted((sender, *recipients))) if len(recipients) == 1 else EVERYBODY


def gist(parts: tuple[Part, ...]) -> str:
    """Return a comparable digest of a message's content: its data, files and numbers exactly, its words as a set
    without courtesies, case, punctuation and emoji."""
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
    """Tell whether a message consists of courtesies alone."""
    return text_gist == "0" * _MARKS


def is_alike(one: str, other: str) -> bool:
    """Tell whether two gists say nearly the same."""
    if one[:_MARKS] != other[:_MARKS]:
        return False
    a, b = _words_of(one), _words_of(other)
    # The smallest hashes of the union are a fair sample of it, so their overlap estimates the overlap of the texts.
    sample = sorted(a | b)[:SKETCH]
    return len([word for word in sample if word in a and word in b]) >= SAME * len(sample)


def spoken(talk: Talk, sender: AgentName, said: str, now: datetime, *, is_due: bool = False) -> tuple[Talk, bool]:
    """Return the talk after a message, and whether the message is accepted. It is refused if the sender and another
    agent have both said nothing new for some rounds, and this message says nothing new either. A message that is due is
    always accepted."""
    marks = said[:_MARKS]  # a cheap first comparison: most gists differ here
    alike = [earlier for earlier in talk.said if earlier.startswith(marks) and is_alike(said, earlier)]
    if not alike and not is_empty(said):
        return Talk(talk.key, {}, (said, *talk.said)[:KEPT_GISTS]), True
    if not is_due and _is_echo(talk, sender):
        return stopped(talk, now), False
    return talk._replace(stale={**talk.stale, sender: talk.stale.get(sender, 0) + 1}), True


def stopped(talk: Talk, now: datetime) -> Talk:
    """Return the talk after the refusal of one more message."""
    return talk._replace(stopped_at=talk.stopped_at or now, refused=talk.refused + 1)


def with_talk(talks: tuple[Talk, ...], talk: Talk) -> tuple[Talk, ...]:
    """Return the talks with this one as the latest. If there are too many, drop the oldest, and a stopped talk only if
    all are stopped."""
    others = [other for other in talks if other.key != talk.key]
    while len(others) >= KEPT_TALKS:
        idle = [other for other in others if other.stopped_at is None] or others
        others.remove(idle[-1])
    return (talk, *others)


def find_talk(talks: Iterable[Talk], key: str) -> Talk:
    """Return the talk with this key, or a new one."""
    return next((talk for talk in talks if talk.key == key), Talk(key))


def encode_talks(talks: Iterable[Talk]) -> Sequence[Json]:
    """Return talks as JSON data."""
    return [
        (talk.key, talk.stale, talk.said, talk.stopped_at and format_instant(talk.stopped_at), talk.refused)
        for talk in talks
    ]


def decode_talks(data: object) -> tuple[Talk, ...]:
    """Return talks from JSON data that `encode_talks` made."""
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
    """Return the data and file digests of a message."""
    files = sorted(part.digest for part in parts if isinstance(part, FilePart))
    return files + [to_json(part.data) for part in parts if isinstance(part, DataPart)]


def _words_of(text_gist: str) -> set[str]:
    return {text_gist[at : at + _WORD] for at in range(_MARKS, len(text_gist), _WORD)}


def _hash(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))
