"""Moves: the steps of a story, each with its weight and the strategies for its arguments.

Hypothesis switches its own rules off at random for whole stories. A ledger is only interesting if sending, showing,
answering and dying meet.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from hypothesis import strategies as st

F = TypeVar("F", bound=Callable[..., None])

_DRAWN = "drawn_from"


class Step(NamedTuple):
    """One step: the name of a move, and its arguments."""

    move: str
    arguments: Mapping[str, Any]


class _Drawn(NamedTuple):
    weight: int
    arguments: Mapping[str, st.SearchStrategy[Any]]


def move(weight: int, **arguments: st.SearchStrategy[Any]) -> Callable[[F], F]:
    """Make a method a move, `weight` times as frequent as one of weight 1."""

    def mark(method: F) -> F:
        setattr(method, _DRAWN, _Drawn(weight, arguments))
        return method

    return mark


def steps_of(story: type) -> st.SearchStrategy[Step]:
    """Return a strategy for the steps of a class with moves."""
    weighted: list[st.SearchStrategy[Step]] = []
    for name in dir(story):
        drawn = getattr(getattr(story, name), _DRAWN, None)
        if isinstance(drawn, _Drawn):
            step = st.builds(Step, st.just(name), st.fixed_dictionaries(dict(drawn.arguments)))
            weighted.extend([step] * drawn.weight)
    return st.sampled_from(weighted).flatmap(lambda step: step)
