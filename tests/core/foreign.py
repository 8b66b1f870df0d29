"""Files of foreign programs: correct, nearly correct and arbitrary ones."""

import json
from collections.abc import Collection, Mapping

from hypothesis import strategies as st

from covey.core.formats.layout import FileCopy
from covey.core.json import Json
from tests.core.strategies import json_values, messages, texts

DIALOGUE_FIELDS = {
    "id", "from", "to", "phase", "round", "kind", "subject", "body", "expects_reply", "in_reply_to", "created_at",
}  # fmt: skip

MAILBOX_FIELDS = {
    "id", "from", "to", "timestamp", "type", "ttl", "trace", "task", "content", "callback", "reply_to", "metadata",
}  # fmt: skip

ENTRY_FIELDS = {
    "agent_id", "description", "capabilities", "status", "allow_from", "max_concurrent_tasks", "current_tasks",
    "registered_at", "last_heartbeat",
}  # fmt: skip


def dialogue(**changes: Json) -> dict[str, Json]:
    """Return a request as an agent loop writes it."""
    fields: Mapping[str, Json] = {
        "id": "1730000000123-9b3e0000-0000-4000-8000-000000000001",
        "from": "np-critic",
        "to": "np-executor",
        "phase": "M005-S007-T0002",
        "round": 2,
        "kind": "request",
        "subject": "filament-resource-policy-missing",
        "body": "did you intend to delete it?",
        "expects_reply": True,
        "in_reply_to": None,
        "created_at": "2026-05-08T10:00:00Z",
    }
    return {**fields, **changes}


def mailbox(**changes: Json) -> dict[str, Json]:
    """Return a task as an agent with a mailbox writes it."""
    fields: Mapping[str, Json] = {
        "id": "msg_1745659200_researcher",
        "from": "researcher",
        "to": "coder",
        "timestamp": "2026-04-26T10:00:00Z",
        "type": "task",
        "ttl": 2,
        "trace": ["researcher"],
        "task": {"id": "original_task_id", "state": "pending", "deadline": "2026-04-26T11:00:00Z"},
        "content": {"parts": [{"type": "text", "text": "sort by time"}, {"type": "data", "data": {"n": 1}}]},
        "callback": {"session_id": "feishu:user_123", "channel": "feishu"},
        "reply_to": None,
        "metadata": {},
    }
    return {**fields, **changes}


def as_file(data: Json) -> bytes:
    return json.dumps(data).encode()


copies = st.builds(FileCopy, messages.map(lambda made: made.id), texts, texts, st.none() | texts, st.none() | texts)

_some_time = st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-01T00:00:00", "0001-01-01T00:00:00+14:00", 1745659200])
_values = st.one_of(json_values, _some_time, st.sampled_from(["request", "response", "notify", "task", "task_update"]))


def _altered(right: Mapping[str, Json]) -> st.SearchStrategy[bytes]:
    """Return files in which some fields of a correct file are replaced, dropped or added."""
    changed = st.dictionaries(st.sampled_from(sorted(right)) | texts, _values, max_size=6)
    dropped = st.sets(st.sampled_from(sorted(right)), max_size=3)
    return st.builds(_with, st.just(right), changed, dropped)


def _with(right: Mapping[str, Json], more: Mapping[str, Json], less: Collection[str]) -> bytes:
    return as_file({name: value for name, value in {**right, **more}.items() if name not in less})


anything = st.binary() | texts.map(str.encode) | json_values.map(as_file)
dialogue_files = anything | _altered(dialogue())
mailbox_files = anything | _altered(mailbox())
