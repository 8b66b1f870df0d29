"""The budget of a causal tree: how much a message and all that it led to may grow before somebody looks at it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple, cast

from covey.core.echo import Talk
from covey.core.errors import Invalid
from covey.core.ids import MessageId
from covey.core.json import Json

STORM_LIMITS: Final = "storm-limits"
"""The setting of a space that holds its own limits."""

NEAR: Final = 0.8
"""From this part of a limit on, a tree is near it."""

REST: Final = timedelta(hours=1)
"""A tree in which nobody said anything for so long has rested: a storm does not."""

MOST: Final = 1_000_000_000
"""The largest limit."""


class Limit(StrEnum):
    """What is limited in a space: four counts of a causal tree, and two of what no tree counts."""

    MESSAGES = "messages"
    DEPTH = "depth"
    """The longest chain in which each message led to the next."""
    HOURS = "hours"
    """How long it has gone on without a rest."""
    CHILDREN = "children"
    """Sessions that were spawned."""
    EXCHANGE = "exchange"
    """Messages that a circle of agents exchanges without a rest, whether they answer each other or not."""
    PROGRESS = "progress"
    """Updates of one task that come within `HURRY` of the one before."""


TREE_LIMITS: Final = (Limit.MESSAGES, Limit.DEPTH, Limit.HOURS, Limit.CHILDREN)
"""What is counted of a tree."""

HURRY: Final = timedelta(seconds=5)
"""A task's progress that is told sooner than this after the last one is hurried."""


class Limits(NamedTuple):
    """How much there may be of each. Generous: what gets there is hardly what anybody wanted."""

    messages: int = 2_000
    depth: int = 500
    hours: int = 24
    children: int = 50
    exchange: int = 250
    progress: int = 200

    def of(self, limit: Limit) -> int:
        return int(getattr(self, limit))


class Tree(NamedTuple):
    """What is known of a tree once its root has led to something. A message that led to nothing has none."""

    root: MessageId
    began_at: datetime
    """When it began, or went on after its last rest."""
    updated_at: datetime
    messages: int = 1
    """The root counts."""
    depth: int = 0
    """Of the deepest message."""
    children: int = 0
    base: int = 0
    """The depth at which counting began anew, when somebody lifted it."""
    refused: int = 0
    """How many messages the budget kept out."""
    stopped: Limit | None = None
    """The limit that it has come up against."""
    stopped_at: datetime | None = None
    talks: tuple[Talk, ...] = ()
    """Who talks with whom in it, the latest first."""

    @property
    def echoes(self) -> tuple[Talk, ...]:
        """The talks in which nothing new is said."""
        return tuple(talk for talk in self.talks if talk.stopped_at is not None)

    @property
    def is_stopped(self) -> bool:
        return self.stopped is not None or bool(self.echoes)


class Excess(NamedTuple):
    """A limit that a tree would be over."""

    limit: Limit
    counted: int
    """How many it would have; of hours, how many it has lasted."""
    allowed: int


def new_tree(root: MessageId, now: datetime) -> Tree:
    """Return the tree of a message that has led to nothing yet."""
    return Tree(root, now, now)


def grown(tree: Tree, depth: int, now: datetime, *, spawns: bool = False) -> Tree:
    """Return the tree with one more message, so many steps from its root; one that `spawns` brings a child along."""
    return tree._replace(
        began_at=now if _rests(tree, now) else tree.began_at,
        updated_at=now,
        messages=tree.messages + 1,
        depth=max(tree.depth, depth),
        children=tree.children + spawns,
    )


def counts(tree: Tree, now: datetime) -> Mapping[Limit, int]:
    """Return what is counted of a tree."""
    return {
        Limit.MESSAGES: tree.messages,
        Limit.DEPTH: max(0, tree.depth - tree.base),
        Limit.HOURS: 0 if _rests(tree, now) else int((now - tree.began_at) / timedelta(hours=1)),
        Limit.CHILDREN: tree.children,
    }


def _fits(tree: Tree, limits: Limits, now: datetime) -> bool:
    return (
        tree.messages <= limits.messages
        and tree.depth - tree.base <= limits.depth
        and tree.children <= limits.children
        and now - tree.began_at < timedelta(hours=limits.hours)
    )


def _rests(tree: Tree, now: datetime) -> bool:
    return now - tree.updated_at >= REST


def excess(before: Tree, after: Tree, limits: Limits, now: datetime) -> Excess | None:
    """Return the first limit that growing would break, or None. What does not grow breaks none: a tree that has all
    children it may have still talks, and one that is deep is still answered nearer to its root."""
    if _fits(after, limits, now):  # most do
        return None
    had, has = counts(before, now), counts(after, now)
    for limit in TREE_LIMITS:
        allowed = limits.of(limit)
        if limit is Limit.HOURS:
            if now - after.began_at >= timedelta(hours=allowed):
                return Excess(limit, has[limit], allowed)
        elif has[limit] > max(allowed, had[limit]):
            return Excess(limit, has[limit], allowed)
    return None


def is_near(tree: Tree, limits: Limits, now: datetime) -> bool:
    """Tell whether a tree has most of what it may have of something."""
    return any(count >= NEAR * limits.of(limit) for limit, count in counts(tree, now).items())


def lifted(tree: Tree, now: datetime) -> Tree:
    """Return the tree as it goes on after somebody looked at it: everything counts from now on."""
    return Tree(tree.root, now, now, messages=0, depth=tree.depth, base=tree.depth)


def encode_limits(limits: Limits) -> dict[str, Json]:
    """Return limits as JSON data."""
    return limits._asdict()


def parse_limits(data: object) -> Limits:
    """Return limits from JSON data; what is absent has its default."""
    if not isinstance(data, Mapping):
        raise Invalid("limits", data, f"use an object with {', '.join(Limit)}")
    given = cast(Mapping[str, Json], data)
    return Limits(**{limit: parse_limit(limit, given[limit]) for limit in Limit if limit in given})


def parse_limit(limit: Limit, value: object) -> int:
    """Return a limit."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST:
        raise Invalid(str(limit), value, f"use a whole number from 1 to {MOST:,}")
    return value
