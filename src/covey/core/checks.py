"""Checks of values that callers hand over, before anything happens: a wrong value raises Invalid, which names it. JSON
data is copied, so that the caller can't change it any more."""

import json
import math
from collections.abc import Collection, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import TypeVar, cast

from covey.core.errors import Invalid
from covey.core.json import Json, JsonObject
from covey.core.ledger.message import Callback, FilePart
from covey.core.limits import MAX_COUNT, MAX_LEASE, MAX_NESTING

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")

MAX_PID = 2**31 - 1
MOST_SECONDS = 1e300
"""A larger whole number may not fit into a float."""
MAX_NOTE_CHARS = 10_000
DIGEST_CHARS = 64


def choice(kind: type[E], value: object, what: str) -> E:
    """Return the member of an enum that `value` names."""
    try:
        return kind(value)
    except ValueError:
        raise Invalid(what, value, "use " + ", ".join(kind)) from None


def whole(value: object, what: str) -> int:
    """Return a whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise Invalid(what, value, "use a whole number")
    return value


def count(value: object, what: str, *, at_least: int = 1) -> int:
    """Return a whole number that can be counted to."""
    if not at_least <= (number := whole(value, what)) <= MAX_COUNT:
        raise Invalid(what, value, f"use a whole number of {at_least} or more")
    return number


def flag(value: object, what: str) -> bool:
    """Return a flag; what only looks like one is not one."""
    if not isinstance(value, bool):
        raise Invalid(what, value, "use True or False")
    return value


def seconds(value: object, what: str) -> float:
    """Return the length of a wait in seconds: infinity for None, which means a wait without limit."""
    if value is None:
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Invalid(what, value, "use a number of seconds of 0 or more, or None to wait without limit")
    if not (0 <= value <= MOST_SECONDS or value == math.inf):  # neither is true of NaN
        raise Invalid(what, value, "use a number of seconds of 0 or more, or None to wait without limit")
    return value


def duration(value: object, what: str) -> timedelta:
    """Return a span of time."""
    if not isinstance(value, timedelta):
        raise Invalid(what, value, "use a timedelta")
    return value


def lease(value: object) -> timedelta:
    """Return how long something holds without a sign of life."""
    if not timedelta(0) < (span := duration(value, "lease")) <= MAX_LEASE:
        raise Invalid("lease", value, f"use more than 0 and at most {MAX_LEASE.days} days")
    return span


def pid(value: object) -> int:
    """Return the id of a process."""
    if not 0 < (number := whole(value, "process id")) <= MAX_PID:
        raise Invalid("process id", value, "use the id of a running process")
    return number


def note(value: object, what: str) -> str:
    """Return a text for people: a status, a reason, the name of a turn."""
    if not isinstance(value, str) or len(value) > MAX_NOTE_CHARS or not is_unicode(value):
        raise Invalid(what, value, f"use a text of at most {MAX_NOTE_CHARS:,} characters")
    return value


def text(value: object, what: str) -> str:
    """Return a text of any length; what it says is checked where it is used."""
    if not isinstance(value, str) or not is_unicode(value):
        raise Invalid(what, value, "use a text")
    return value


def place(value: object) -> str:
    """Return a path, or a URL."""
    if "\0" in (path := text(value, "path")):
        raise Invalid("path", value, "a path can't contain NUL")
    return path


def instance(kind: type[T], value: object, what: str, rule: str) -> T:
    """Return an object of a class of ours."""
    if not isinstance(value, kind):
        raise Invalid(what, value, rule)
    return value


def function(value: T, what: str) -> T:
    """Return something that can be called."""
    if not callable(value):
        raise Invalid(what, value, "use a function")
    return value


def items(value: object, what: str, rule: str) -> Collection[object]:
    """Return several values; a text or an object with keys is one value."""
    if isinstance(value, str | bytes | bytearray | Mapping) or not isinstance(value, Collection):
        raise Invalid(what, cast(object, value), rule)
    return cast(Collection[object], value)


def check_known(options: Mapping[str, object], known: Collection[str]) -> None:
    """Raise Invalid for an option that a call does not have."""
    if unknown := options.keys() - known:
        raise Invalid("option", min(unknown), "the known options are: " + ", ".join(sorted(known)))


def addresses(value: object) -> Collection[object]:
    """Return whom a message is for: one, or several."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Mapping) or not isinstance(value, Collection):
        raise Invalid("recipient", cast(object, value), "name one recipient, or a list of recipients")
    return cast(Collection[object], value)


def callback(value: object) -> Callback:
    """Return the conversation that results belong to."""
    pair = cast(tuple[object, ...], value) if isinstance(value, tuple | list) else ()
    texts = [item for item in pair if isinstance(item, str) and item]
    if len(pair) != 2 or len(texts) != 2:
        raise Invalid("callback", cast(object, value), "use a channel and a conversation, both texts")
    channel, session_id = texts
    return Callback(channel, session_id)


def files(value: object) -> tuple[FilePart, ...]:
    """Return snapshots of files as `attach` makes them."""
    if not isinstance(value, tuple | list):
        raise Invalid("files", value, "use a list of the objects that `attach` returns")
    return tuple(file(item) for item in cast(Collection[object], value))


def file(value: object) -> FilePart:
    """Return one snapshot of a file."""
    if not isinstance(value, FilePart):
        raise Invalid("file", value, "use the object that `attach` returns")
    name, digest, size, media_type, path = cast(tuple[object, ...], value)
    if not isinstance(name, str) or not name or name in (".", "..") or any(c in "/\\" or c < " " for c in name):
        raise Invalid("file name", name, "use a name without folders")
    if not isinstance(digest, str) or len(digest) != DIGEST_CHARS or set(digest) - set("0123456789abcdef"):
        raise Invalid("file digest", digest, "use the sha256 of the content in hex")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise Invalid("file size", size, "use a number of bytes")
    if not isinstance(media_type, str) or not isinstance(path, str | None):
        raise Invalid("file", value, "use the object that `attach` returns")
    return value


def is_unicode(text: str) -> bool:
    """Tell whether a text can be written: it has no halves of characters in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain(value: object, what: str) -> Json:
    """Return a copy of `value`, as every store will return it. Raise Invalid if JSON can't express it."""
    try:
        document = json.dumps(value, ensure_ascii=False, allow_nan=False)
        document.encode()
        copy = cast(Json, json.loads(document))
    except UnicodeEncodeError:
        raise Invalid(what, "…", "it has characters that are not valid Unicode") from None
    except (TypeError, ValueError, RecursionError):
        raise Invalid(what, value, "it can't be written as JSON") from None
    if _is_deep(copy):
        raise Invalid(what, value, f"it is nested deeper than {MAX_NESTING} levels")
    return copy


def plain_object(value: object, what: str) -> JsonObject:
    """Return a plain copy of a mapping. Raise Invalid if its keys are not all texts."""
    pairs = dict(cast(Mapping[object, object], value)) if isinstance(value, Mapping) else None
    if pairs is None or not all(isinstance(key, str) for key in pairs):
        raise Invalid(what, cast(object, value), "use a mapping with texts for keys")
    return cast(JsonObject, plain(pairs, what))


def _is_deep(value: Json) -> bool:
    level: list[Json] = [value]
    for _ in range(MAX_NESTING + 1):
        level = [item for container in level for item in _items(container)]
        if not level:
            return False
    return True


def _items(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
