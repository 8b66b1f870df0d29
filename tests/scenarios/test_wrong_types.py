"""Every public call of the Python API, with values of a wrong type for every parameter: the call raises Invalid and
changes nothing.

The calls, their parameters and the types come from the API itself, so that a new call is tried too.
"""

import inspect
import math
import types
import typing
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NewType, Union, cast

import pytest

import covey
from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.ledger.message import FilePart
from covey.toolkits.toolbox import Toolbox
from tests.scenarios.bad_values import DIGEST, NAIVE, SURROGATE, UNKNOWN_ID

WRONG: Sequence[object] = (
    None, 5, 10**400, 1.5, math.nan, True, b"bytes", bytearray(b"x"), "text", "", object(), ["list"], [5], {"a": 1},
    ("a", "b"), frozenset({"a"}), NAIVE, timedelta(seconds=1), UNKNOWN_ID, lambda: None, int,
)  # fmt: skip
LARGE = 10**300
"""A bound for whole numbers. No float holds one that is much larger."""
ODD_TEXTS = ("nul\0", SURROGATE, "x" * 3_000_000)

NAMES = {"Json": Json}
"""Names for recursive types, which refer to themselves."""

UNTYPED = {
    ("Toolbox", "call"),  # a model's arguments: the answer reports what is wrong with them
}
"""Calls that accept anything by design."""

VALID: Mapping[str, object] = {
    "to": "bob",
    "text": "text",
    "ticket": f"{UNKNOWN_ID}@bob",
    "what": "plan",
    "message_id": UNKNOWN_ID,
    "reason": "a reason",
    "scope": "a-scope",
    "turn": "turn-1",
    "offer_id": "00000000-0000-4000-8000-000000000000",
    "grade": "witnessed",
    "basis": "a reason",
    "status": "busy",
    "path": "pyproject.toml",
    "task": "a task",
    "name": "ann",
    "words": "word",
    "timeout": 0.0,
    "state": "handled",
    "messages": [],
    "provider": "anthropic",
    "response_id": "response-1",
    "part": FilePart("notes.txt", DIGEST, 3),
    "handler": print,
    "answer": None,
    "agent": "ann",
    "token": "a token",
    "rounds": 3,
    "by": covey.Member,
}
"""Values for parameters without a default. A class stands for the object of that class on the stage."""


def accepts(kind: Any, value: object) -> bool:
    """Return whether a value is of a type, as far as the API declares it."""
    kind = kind.__supertype__ if isinstance(kind, NewType) else kind
    origin = typing.get_origin(kind)
    if kind in (Any, object) or isinstance(kind, typing.TypeVar):
        return True
    if kind in (None, type(None)):
        return value is None
    if getattr(kind, "_is_protocol", False):
        return False
    if origin in (Union, types.UnionType):
        return any(accepts(option, value) for option in typing.get_args(kind))
    if origin is Literal:
        return isinstance(value, str) and value in typing.get_args(kind)
    if kind is float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and -LARGE < cast(float, value) < LARGE
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, origin or kind) and _items_fit(origin or kind, typing.get_args(kind), value)


def _items_fit(kind: Any, items: tuple[Any, ...], value: object) -> bool:
    if isinstance(value, str) and kind is not str:
        return False  # a text is no list of texts
    if kind is tuple:
        return len(items) == len(cast(tuple[object, ...], value)) and all(map(accepts, items, cast(Any, value)))
    if isinstance(kind, type) and issubclass(kind, Mapping) and items:
        return all(accepts(items[0], key) for key in cast(Mapping[object, object], value))
    if isinstance(kind, type) and issubclass(kind, Collection) and len(items) == 1:
        return all(accepts(items[0], item) for item in cast(Collection[object], value))
    return True


class Parameter(typing.NamedTuple):
    name: str
    kind: Any
    is_required: bool


def parameters(call: Callable[..., object]) -> Iterator[Parameter]:
    """Yield the parameters of a call; the options of a TypedDict are yielded one by one."""
    hints = typing.get_type_hints(call, localns=NAMES)
    for parameter in inspect.signature(call).parameters.values():
        kind = hints.get(parameter.name, Any)
        if parameter.name == "self":
            continue
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            (options,) = typing.get_args(kind)
            for name, option in typing.get_type_hints(options, localns=NAMES).items():
                yield Parameter(name, option, False)
        else:
            yield Parameter(parameter.name, kind, parameter.default is inspect.Parameter.empty)


def public_calls() -> Iterator[tuple[str, str]]:
    """Yield the class, or an empty text, and the name of every public call."""
    for name in covey.__all__:
        thing = getattr(covey, name)
        home = str(getattr(thing, "__module__", ""))
        if not home.startswith(("covey.surfaces.python", "covey.toolkits")):
            continue
        if inspect.isclass(thing):
            if not issubclass(thing, Exception | tuple) and not hasattr(thing, "__members__"):
                for method, _ in inspect.getmembers(thing, inspect.isfunction):
                    if not method.startswith("_"):
                        yield name, method
        elif callable(thing):
            yield "", name


CALLS = [call for call in public_calls() if call not in UNTYPED]


class Stage:
    """One object of each public class, in a separate space."""

    def __init__(self, space: covey.Space, objects: Mapping[str, object]) -> None:
        self.space = space
        self._objects = objects

    def bound(self, owner: str, name: str) -> Callable[..., object]:
        return getattr(self._objects[owner], name) if owner else getattr(covey, name)

    def values(self, names: Iterable[str]) -> dict[str, object]:
        """Return a valid value for each parameter."""
        return {name: self._objects["Member"] if VALID[name] is covey.Member else VALID[name] for name in names}

    async def events(self) -> int:
        return len([event async for event in self.space.journal()])


async def on_stage(play: Callable[[Stage], Awaitable[None]]) -> None:
    async with covey.open("memory:") as space:
        ann, bob = await space.join("ann"), await space.join("bob")
        receipt = await bob.send("ann", "hello")
        delivery = await ann.inbox.next(0)
        delegated = await bob.delegate("ann", "a task")
        assignment = await ann.take(timeout=0)
        errands: list[covey.Errand] = []

        async def child(errand: covey.Errand) -> str:
            errands.append(errand)
            return "done"

        spawned = await ann.spawn("a task", run=child)
        await spawned.result(timeout=30)
        async with ann.turn() as turn:
            objects = {
                "Space": space,
                "Member": ann,
                "Inbox": ann.inbox,
                "Delivery": delivery,
                "Receipt": receipt,
                "Delegated": delegated,
                "Assignment": assignment,
                "Spawned": spawned,
                "Errand": errands[0],
                "Turn": turn,
                "Worker": ann.worker(lambda _: None),  # pyright: ignore[reportArgumentType]
                "Toolbox": ann.tools(),
                "Operator": await space.operator(await space.create_token("operator", by=ann)),
            }
            await play(Stage(space, objects))


async def outcome(call: Callable[..., object], arguments: Mapping[str, object]) -> BaseException | None:
    """Return the error that a call raises."""
    try:
        result = call(**arguments)
        if inspect.isawaitable(result):
            await result
        elif isinstance(result, AsyncIterator):
            async for _ in cast(AsyncIterator[object], result):
                break
    except Exception as error:  # noqa: BLE001 - the test judges the kind of error
        return error
    return None


def _is_refused(error: BaseException | None) -> bool:
    return error is None or isinstance(error, covey.Rejected | covey.NotFound)


def cases(stage: Stage, call: Callable[..., object]) -> Iterator[tuple[str, Any, dict[str, object]]]:
    """Yield each parameter with its type, and values for all other required parameters."""
    known = list(parameters(call))
    for parameter in known:
        others = stage.values(p.name for p in known if p.is_required and p.name != parameter.name)
        if parameter.name != "timeout" and any(p.name == "timeout" for p in known):
            others["timeout"] = 0.0  # valid calls do not wait
        yield parameter.name, parameter.kind, others


@pytest.mark.parametrize(("owner", "name"), CALLS)
async def test_a_value_of_a_wrong_type_is_invalid_and_nothing_happens(owner: str, name: str) -> None:
    async def play(stage: Stage) -> None:
        call, before = stage.bound(owner, name), await stage.events()
        wrong: list[str] = []
        if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in inspect.signature(call).parameters.values()):
            needed = stage.values(p.name for p in parameters(call) if p.is_required)
            error = await outcome(call, {**needed, "no_such_option": 1})
            if not isinstance(error, Invalid):
                wrong.append(f"no_such_option: {error!r:.200}")
        for parameter, kind, others in cases(stage, call):
            for value in WRONG:
                if not accepts(kind, value):
                    error = await outcome(call, {**others, parameter: value})
                    # Several names in any collection are checked one by one.
                    is_judged = parameter in ("to", "roots") and isinstance(value, Collection)
                    if not isinstance(error, Invalid) and not (is_judged and _is_refused(error)):
                        wrong.append(f"{parameter}={value!r:.60}: {error!r:.200}")
            if accepts(kind, "text"):
                for value in ODD_TEXTS:
                    error = await outcome(call, {**others, parameter: value})
                    if error is not None and not isinstance(error, covey.CoveyError):
                        wrong.append(f"{parameter}={value!r:.60}: {error!r:.200}")
        assert not wrong, "\n".join(wrong)
        if not any(accepts(kind, "text") for _, kind, _ in cases(stage, call)):
            assert await stage.events() == before

    await on_stage(play)


def test_the_calls_are_found() -> None:
    found = {owner for owner, _ in CALLS}
    assert found >= {
        "",
        "Space",
        "Member",
        "Inbox",
        "Delivery",
        "Receipt",
        "Turn",
        "Assignment",
        "Spawned",
        "Delegated",
    }
    assert Toolbox is covey.Toolbox
    assert ("Member", "send") in CALLS
    assert len(CALLS) > 60
    assert isinstance(NAIVE, datetime)
