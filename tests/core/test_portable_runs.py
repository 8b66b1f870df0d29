"""Runs in an export: a valid run is restored, and an invalid one is refused."""

import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import IllegalMove, Invalid
from covey.core.formats.export import decode_record, encode_record, kind_of
from covey.core.formats.portable import RUN, RecordKind
from covey.core.json import JsonObject
from covey.core.ledger.message import Callback
from covey.core.work.run import (
    ENDED,
    RUN_MOVES,
    LauncherKind,
    Run,
    RunId,
    RunMode,
    RunMove,
    RunState,
    Stage,
    run_moved,
)
from covey.testing.records import a_run, at
from tests.core.strategies import agent_names, instants, message_ids, scopes, session_ids, session_keys, texts

runs = st.builds(
    Run,
    id=session_ids.map(lambda text: RunId(str(text))),
    session=session_ids,
    key=session_keys,
    agent=agent_names,
    parent_agent=agent_names,
    request=message_ids,
    mode=st.sampled_from(RunMode),
    launcher=st.sampled_from(LauncherKind),
    state=st.sampled_from(RunState),
    started_at=instants,
    parent=st.none() | session_ids,
    sibling_of=st.none() | session_ids,
    label=st.none() | scopes,
    description=texts,
    time_limit=st.none() | st.floats(0.001, 1e6),
    thread=st.none() | st.builds(Callback, agent_names, texts),
    folder=st.none(),
    stage=st.sampled_from(Stage),
    stop_reason=st.none() | texts,
    reason=st.none() | texts,
    ended_at=st.none() | instants,
    is_told=st.booleans(),
)


@given(runs)
def test_a_run_survives_encoding(run: Run) -> None:
    travelled = cast(JsonObject, json.loads(json.dumps(encode_record(run))))
    assert decode_record(kind_of(run), travelled) == run


def test_no_field_of_a_run_is_forgotten_and_its_folder_is_not_exported() -> None:
    assert set(RUN.fields) | {"folder"} == set(Run._fields)
    assert "folder" not in encode_record(a_run(folder="/runs/1"))


@pytest.mark.parametrize(
    ("field", "value"),
    [("id", "7"), ("state", "gone"), ("time_limit", -1), ("time_limit", True), ("thread", ["ops"]), ("key", None)],
)
def test_an_invalid_run_is_refused_with_its_field(field: str, value: object) -> None:
    data = cast(JsonObject, {**encode_record(a_run()), field: value})
    with pytest.raises(Invalid) as refused:
        decode_record(RecordKind.RUN, data)
    assert refused.value.what == field


@given(st.lists(st.sampled_from(RunMove), max_size=8))
def test_no_sequence_of_moves_leaves_a_terminal_state(moves: list[RunMove]) -> None:
    run = a_run(state=RunState.STARTING)
    ends: list[Run] = []
    for move in moves:
        try:
            run = run_moved(run, move, at(len(ends)), "why")
        except IllegalMove:
            assert move not in RUN_MOVES[run.state]
        if run.has_ended:
            ends.append(run)
    assert all(end == ends[0] for end in ends)
    assert all(end.state in ENDED and end.reason == "why" and end.ended_at is not None for end in ends)
