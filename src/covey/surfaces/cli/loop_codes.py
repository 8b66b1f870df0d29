"""Error codes that agent loops know, for the messages-* verbs."""

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
"""Codes of loops, by Covey's own code."""

_WRONG: Final[Mapping[str, str]] = {
    "agent name": "messages-invalid-agent",
    "message id": "messages-invalid-id",
    "round": "messages-invalid-round",
    "--round": "messages-invalid-round",
    "--kind": "messages-invalid-kind",
    "time": "messages-invalid-since",
    "file": "messages-body-file-read-failed",
}
"""Codes of loops for a wrong value, by the name of the value."""

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
"""Codes of loops for a missing value, by the name of the value."""

_OPTION: Final = re.compile(r"argument (--[a-z-]+)[:/]")


def loop_code(error: CoveyError) -> str:
    """Return the loops' code for an error, or Covey's own code if loops have none."""
    if not isinstance(error, Invalid):
        return _SAME.get(error.code, error.code)
    option = _OPTION.match(error.rule)
    what = option[1] if option else error.what
    if error.details.get("value") == repr(None):
        return _MISSING.get(what, error.code)
    return _WRONG.get(what, error.code)
