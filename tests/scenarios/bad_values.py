"""Values that no field of a message or a session accepts: wrong, empty, huge, not text, or paths that lead outside."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import cast

from covey.core.directory.card import Card
from covey.core.ledger.message import FilePart
from covey.core.limits import MAX_ENVELOPE_BYTES

SURROGATE = "\ud800"
UNKNOWN_ID = "1767225600000-99999999-0000-4000-8000-000000000000"
UNKNOWN_SESSION = "99999999-0000-4000-8000-000000000000"
NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001  # the missing zone is the point
BEFORE_TIME = datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))
DIGEST = "0" * 64


def _nested(depth: int) -> list[object]:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


def _circular() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


NOT_TEXT: Sequence[object] = (None, 5, b"bytes", ["list"], {"a": 1}, object())
NOT_A_NAME: Sequence[object] = (
    *NOT_TEXT, "", " ", "two words", "line\n", "nul\0", "../up", "a/b", "/etc/passwd", "..", ".", "~", "é", "名",
    "a" * 65, "a\u202eb", SURROGATE, "%2e%2e",
)  # fmt: skip
NOT_A_SCOPE: Sequence[object] = (
    *NOT_TEXT, "", " ", ".hidden", "..", "../up", "a/b", "nul\0", "line\n", "é", "a" * 129, SURROGATE,
)  # fmt: skip
NOT_A_KNOWN_SCOPE: Sequence[object] = (*NOT_TEXT, "", "nul\0", "line\n", "a" * 501, SURROGATE)
"""Values that are invalid as a scope, even as one of a foreign program."""
NOT_JSON: Sequence[object] = (
    math.nan, math.inf, -math.inf, [1, [math.nan]], {"x": math.inf}, object(), {1, 2}, b"bytes", NAIVE, 10**5000,
    {("a", "b"): 1}, SURROGATE, [SURROGATE], {SURROGATE: 1}, _nested(500), _nested(100_000), _circular(),
    "x" * MAX_ENVELOPE_BYTES,
)  # fmt: skip
NOT_AN_INSTANT: Sequence[object] = (None, 5, "2026-01-01T00:00:00Z", NAIVE, BEFORE_TIME, timedelta(hours=1))
NOT_A_DURATION: Sequence[object] = (None, 5, 5.5, "5m", timedelta.max, timedelta.min)
NOT_A_CHOICE: Sequence[object] = (None, "", "maybe", 5, [], {}, SURROGATE)
NOT_A_TIMEOUT: Sequence[object] = ("5", math.nan, -1, True, [], timedelta(seconds=5))
NOT_A_NOTE: Sequence[object] = (*NOT_TEXT, SURROGATE, "x" * 10_001)
NOT_AN_ID: Sequence[object] = (*NOT_TEXT, "", "x", f"{UNKNOWN_ID}/..", UNKNOWN_ID)

OF_A_MESSAGE: Mapping[str, Sequence[object]] = {
    "to": (
        *NOT_A_NAME, [], [""], ["bob", None], ["bob", "../up"], 5.5, b"bob", "carl", UNKNOWN_SESSION, "covey",
        "agent:bob", "agent:bob:main:nobody", "agent:../up:main", "agent:bob:subagent:", "agent:carl:main",
        ["bob"] * 300_000,
    ),
    "text": (*NOT_TEXT, SURROGATE, "x" * MAX_ENVELOPE_BYTES, "é" * (MAX_ENVELOPE_BYTES // 2)),
    "id": (*NOT_TEXT, "", "x", "1767225600000", "1767225600000-../../up", f"{UNKNOWN_ID}\n", UNKNOWN_ID.upper() + "x"),
    "subject": (*NOT_TEXT, "", "Style", "two words", "a_b", "-a", "a-", "a--b", "../up", "é", "a" * 129, SURROGATE),
    "scope": NOT_A_SCOPE,
    "round": (None, -1, 1.5, "1", True, math.nan, 10**30, [1]),
    "data": NOT_JSON,
    "files": (
        None, 5, "path", ["/etc/passwd"], [None], [{"name": "x"}],
        [FilePart("notes.txt", DIGEST, 3)],
        [FilePart("notes.txt", "../../etc/passwd", 3)],
        [FilePart("../up", DIGEST, 3)],
        [FilePart("nul\0", DIGEST, 3)],
        [FilePart("notes.txt", DIGEST, -3)],
        [FilePart(SURROGATE, DIGEST, 3)],
        [FilePart("notes.txt", DIGEST, 3)] * 300,
    ),
    "relaying": (*NOT_TEXT, "", "x", UNKNOWN_ID),
    "correlation_id": (*NOT_TEXT, "", "x", UNKNOWN_SESSION + "x"),
    "callback": (None, 5, "ab", (), ("a",), ("a", "b", "c"), (1, 2), ("a", None), ("", "b"), (SURROGATE, "b")),
    "deadline": NOT_AN_INSTANT,
    "expires_at": NOT_AN_INSTANT,
    "expires_in": NOT_A_DURATION,
    "traceparent": (*NOT_TEXT, "", "x", "00-xyz", f"00-{'0' * 32}-{'0' * 16}-01\n", SURROGATE),
    "metadata": (
        None, 5, "x", [], ["x"], {1: 2}, {"x": math.nan}, {"x": object()}, {SURROGATE: 1}, {"x": SURROGATE},
        {"x": _nested(100_000)}, {"x": "x" * MAX_ENVELOPE_BYTES},
    ),
    "when_offline": NOT_A_CHOICE,
    "when_unknown": NOT_A_CHOICE,
    "await_session": (None, "no", 1, []),
    "subjct": ("a-typo",),
}  # fmt: skip

OF_A_SEND: Mapping[str, Sequence[object]] = {**OF_A_MESSAGE, "kind": (*NOT_A_CHOICE, "response", "task", "Notify")}

OF_AN_ASK: Mapping[str, Sequence[object]] = {
    **OF_A_MESSAGE,
    "to": (*OF_A_MESSAGE["to"], "*", ["bob", "alice"]),
    "timeout": NOT_A_TIMEOUT,
}

_card = cast(Callable[..., Card], Card)

OF_A_CARD: Sequence[object] = (
    5, "x", [], True,
    {"description": 5}, {"description": SURROGATE}, {"description": "nul\0"}, {"description": "x" * 10_001},
    {"capabilities": "abc"}, {"capabilities": [5]}, {"capabilities": ["x"] * 1_001}, {"capabilities": [SURROGATE]},
    {"capabilities": ["x" * 10_000] * 1_000},
    {"allow_from": "bob"}, {"allow_from": ["two words"]}, {"allow_from": [None]},
    {"allowed_delegates": ["../up"]}, {"allowed_delegates": 5},
    {"quota": "3"}, {"quota": -1}, {"quota": True}, {"quota": 1.5}, {"quota": 10**30},
    {"overflow": "maybe"}, {"overflow": []}, {"workspace": 5}, {"workspace": SURROGATE}, {"command": "rm -r"},
    {"capacity": 5}, {"capacity": {"limit": 0}}, {"capacity": {"limit": "x"}}, {"capacity": {"limit": 10**30}},
    {"capacity": {"overflow": "maybe"}},
    _card(description=5), _card(quota="3"), _card(allow_from="bob"), _card(capacity=5), _card(capabilities=5),
)  # fmt: skip

OF_A_JOIN: Mapping[str, Sequence[object]] = {
    "name": (*NOT_A_NAME[1:], UNKNOWN_SESSION, "operator", "covey"),
    "card": OF_A_CARD,
    "label": NOT_A_SCOPE[1:],
    "session_id": (*NOT_TEXT[1:], "", "x", f"{UNKNOWN_SESSION}/..", SURROGATE),
    "kind": NOT_A_CHOICE,
    "client_pid": (None, "1", -1, 0, True, 1.5, 10**30),
    "inbox_limit": (0, -1, "5", True, 1.5, 10**30, []),
    "inbox_overflow": NOT_A_CHOICE[1:],
    "lease": (*NOT_A_DURATION, timedelta(0), timedelta(seconds=-1)),
}
