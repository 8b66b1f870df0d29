"""The form of runs in an export. A run that was active in the old space is lost in the new one, because its process is
elsewhere."""

from typing import Final, cast

from covey.core.errors import Invalid
from covey.core.ids import parse_message_id, parse_session_id
from covey.core.message import Callback
from covey.core.names import parse_agent_name, parse_label
from covey.core.portable_forms import Form
from covey.core.run import LauncherKind, Run, RunMode, RunState, Stage, parse_run_id
from covey.core.session_key import parse_session_key
from covey.core.times import parse_instant
from covey.core.wire import flag, member, plain_text


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise Invalid("seconds", value, "use a number of 0 or more")
    return float(value)


def _thread(value: object) -> Callback:
    texts = cast(list[object], value) if isinstance(value, list) else []
    if len(texts) not in (2, 3):  # older exports have two
        raise Invalid("thread", cast(object, value), "use a channel and a conversation")
    return Callback(*map(plain_text, texts))


RUN: Final = Form(
    Run,
    {
        "id": parse_run_id,
        "session": parse_session_id,
        "key": parse_session_key,
        "agent": parse_agent_name,
        "parent_agent": parse_agent_name,
        "request": parse_message_id,
        "mode": member(RunMode),
        "launcher": member(LauncherKind),
        "state": member(RunState),
        "started_at": parse_instant,
        "parent": parse_session_id,
        "sibling_of": parse_session_id,
        "label": parse_label,
        "description": plain_text,
        "time_limit": _seconds,
        "thread": _thread,
        "stage": member(Stage),
        "stop_reason": plain_text,
        "reason": plain_text,
        "ended_at": parse_instant,
        "is_told": flag,
    },
    Run._field_defaults,
)
"""All fields but the folder, which is not exported."""
