"""Bad input: every field of send, ask and join refuses it with an error code, and nothing changes."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import cast

import pytest

from covey.core.errors import CoveyError
from covey.core.json import Json
from tests.scenarios.bad_values import (
    NOT_A_CHOICE,
    NOT_A_DURATION,
    NOT_A_KNOWN_SCOPE,
    NOT_A_NAME,
    NOT_A_NOTE,
    NOT_A_TIMEOUT,
    NOT_AN_ID,
    NOT_TEXT,
    OF_A_JOIN,
    OF_A_SEND,
    OF_AN_ASK,
    SURROGATE,
    UNKNOWN_ID,
    UNKNOWN_SESSION,
)
from tests.scenarios.world import World, waiting

pytestmark = pytest.mark.requirement("ledger.states")

Call = Callable[..., Awaitable[object]]


async def faults(
    world: World, call: Call, given: Mapping[str, object], field: str, values: Sequence[object]
) -> list[str]:
    """Return the faults in the way in which `call` handles bad values of a field."""
    found: list[str] = []
    before = await world.snapshot()
    for number, value in enumerate(values):
        what = f"{getattr(call, '__name__', call)}: {field}[{number}]"
        try:
            await call(**{**given, field: value})
        except CoveyError as error:
            if error.code in ("error", "rejected", "not-found", "unavailable"):
                found.append(f"{what}: no code of its own: {error}")
            json.dumps(dict(error.details), allow_nan=False).encode()  # programs get them as JSON
            str(error).encode()
        except Exception as error:  # noqa: BLE001  # collects every outcome
            found.append(f"{what}: {type(error).__name__}: {error!s:.80}")
        else:
            found.append(f"{what}: accepted")
        after = await world.snapshot()
        if after != before:
            found.append(f"{what}: something changed")
            before = after
    return found


async def still_works(world: World) -> None:
    """Check that everything can be read, and that mail can still be sent."""
    carol, dave = await world.join("carol", "dave")
    await carol.send("dave", "hi")
    assert await waiting(dave) == ["hi"]
    await world.observer.agents()
    await world.tend()


@pytest.mark.parametrize("field", list(OF_A_SEND))
async def test_a_bad_value_of_a_send_is_an_error_with_a_code_and_changes_nothing(world: World, field: str) -> None:
    alice, _bob = await world.join("alice", "bob")
    given = {"to": "bob", "text": "hi"}
    assert await faults(world, cast(Call, alice.send), given, field, OF_A_SEND[field]) == []
    await still_works(world)


@pytest.mark.parametrize("field", list(OF_AN_ASK))
async def test_a_bad_value_of_an_ask_is_an_error_with_a_code_and_changes_nothing(world: World, field: str) -> None:
    alice, _bob = await world.join("alice", "bob")
    given = {"to": "bob", "text": "hi", "timeout": 0}
    assert await faults(world, cast(Call, alice.ask), given, field, OF_AN_ASK[field]) == []
    await still_works(world)


@pytest.mark.parametrize("field", list(OF_A_JOIN))
async def test_a_bad_value_of_a_join_is_an_error_with_a_code_and_changes_nothing(world: World, field: str) -> None:
    given: dict[str, object] = {"name": "bob", "kind": "client"} if field == "client_pid" else {"name": "bob"}
    process = world.process()
    assert await faults(world, cast(Call, process.join), given, field, OF_A_JOIN[field]) == []
    await still_works(world)


async def test_a_bad_value_of_any_other_call_is_an_error_with_a_code_and_changes_nothing(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    receipt = await alice.send("bob", "shall I?", kind="request", scope="build")
    known = {"message_id": receipt.message_id}
    table: Sequence[tuple[object, Mapping[str, object], str, Sequence[object]]] = (
        (bob.reply, {**known, "text": "yes"}, "message_id", NOT_AN_ID),
        (bob.reply, {**known, "text": "yes"}, "text", (None, 5, SURROGATE)),
        (bob.archive, {}, "message_id", NOT_AN_ID),
        (bob.dismiss, {}, "message_id", NOT_AN_ID),
        (bob.withdraw, {}, "message_id", NOT_AN_ID),
        (bob.receipt, {}, "message_id", NOT_AN_ID),
        (bob.named, {"basis": "…"}, "message_id", NOT_AN_ID),
        (bob.named, known, "basis", NOT_A_NOTE),
        (bob.offer, {}, "turn", NOT_A_NOTE),
        (bob.offer, {"turn": "turn"}, "presentation", NOT_A_CHOICE),
        (bob.offer, {"turn": "turn"}, "limit", (None, "5", True, 1.5)),
        (bob.offer, {"turn": "turn"}, "lease", (*NOT_A_DURATION, timedelta(0))),
        (bob.confirm, {"grade": "named", "basis": "…"}, "offer_id", (*NOT_TEXT, "", "x", UNKNOWN_SESSION)),
        (bob.confirm, {"offer_id": UNKNOWN_SESSION, "basis": "…"}, "grade", NOT_A_CHOICE),
        (alice.resume, {"timeout": 0}, "ticket", (*NOT_TEXT, "", "x", f"{UNKNOWN_ID}@bob", f"{UNKNOWN_ID}@../up")),
        (alice.resume, {"ticket": f"{receipt.message_id}@bob"}, "timeout", NOT_A_TIMEOUT),
        (alice.waive, {}, "ticket", (*NOT_TEXT, "", "x", f"{UNKNOWN_ID}@bob")),
        (alice.gate, {"force_because": "…"}, "scope", NOT_A_KNOWN_SCOPE),
        (alice.gate, {"scope": "build"}, "force_because", (5, "", " ", SURROGATE)),
        (alice.sweep, {}, "scope", NOT_A_KNOWN_SCOPE),
        (alice.sweep, {"scope": "build"}, "force_because", (5, "", " ", SURROGATE)),
        (alice.set_status, {}, "status", NOT_A_NOTE),
        (receipt.until, {"timeout": 0}, "state", NOT_A_CHOICE),
        (receipt.until, {"timeout": 0, "state": "in_context"}, "grade", NOT_A_CHOICE),
        (receipt.until, {"state": "in_context"}, "timeout", NOT_A_TIMEOUT),
        (bob.inbox.next, {}, "timeout", NOT_A_TIMEOUT),
        (world.observer.agent, {}, "name", NOT_A_NAME),
        (world.observer.thread, {}, "message_id", NOT_AN_ID),
        (world.observer.gate, {}, "scope", NOT_A_KNOWN_SCOPE),
    )
    found = [await faults(world, cast(Call, call), given, field, values) for call, given, field, values in table]
    assert [fault for list_ in found for fault in list_] == []
    await still_works(world)


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "\x1b[31mred", "line\r\nline", "é名🐦", "\u202eevil", "</peer-message>", "x" * 1_000_000]
)
async def test_a_text_may_contain_any_characters(world: World, text: str) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", text)
    assert await waiting(bob) == [text]


async def test_data_survives_as_json(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    data: dict[str, Json] = {
        "none": None,
        "flag": True,
        "big": 2**70,
        "float": 0.1,
        "list": [1, [2]],
        "text": "é\0\n",
        "": {},
    }
    await alice.send("bob", "…", data=data, metadata=data)
    (found,) = await bob.inbox.peek()
    assert found.message.metadata == data
    assert repr(found.message.parts[1]) == f"DataPart(data={data!r})"
