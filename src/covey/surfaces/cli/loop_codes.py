"""The codes by which agent loops know what went wrong, for the messages-* verbs."""

import re
from collections.abc import Mapping
from typing import Final

from covey.core.errors import CoveyError, Invalid

_SAME: Final[Mapping[str, str]] = {
    "message-unknown": "messages-not-found",
    "message-pruned": "messages-not-found",
    "message-too-large": "messages-body-too-large",
    "file-outside-roots": "messages-body-file-not-allowed",
}
"""By our own code."""

_WRONG: Final[Mapping[str, str]] = {
    "agent name": "messages-invalid-agent",
    "message id": "messages-invalid-id",
    "round": "messages-invalid-round",
    "--round": "messages-invalid-round",
    "--kind": "messages-invalid-kind",
    "time": "messages-invalid-since",
    "file": "messages-body-file-read-failed",
}
"""By what has a wrong value."""

_MISSING: Final[Mapping[str, str]] = {
    "id": "messages-missing-id",
    "from": "messages-invalid-agent",
    "to": "messages-invalid-agent",
    "agent": "messages-invalid-agent",
    "kind": "messages-invalid-kind",
    "phase": "messages-missing-phase",
    "subject": "messages-missing-subject",
    "body": "messages-missing-body",
    "in-reply-to": "messages-response-needs-in-reply-to",
}
"""By what is missing."""

_OPTION: Final = re.compile(r"argument (--[a-z-]+)[:/]")


def loop_code(error: CoveyError) -> str:
    """Return the code that a loop knows an error by; our own where loops have none."""
    if not isinstance(error, Invalid):
        return _SAME.get(error.code, error.code)
    option = _OPTION.match(error.rule)
    what = option[1] if option else error.what
    if error.details.get("value") == repr(None):
        return _MISSING.get(what, error.code)
    return _WRONG.get(what, error.code)
