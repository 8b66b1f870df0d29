"""The budget of a causal tree: limits on the messages that one message leads to. Over a limit, the operator decides."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple, cast

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.names import MessageId
from covey.core.storms.echo import Talk

STORM_LIMITS: Final = "storm-limits"
"""The setting of a space that holds its own limits."""

NEAR: Final = 0.8
"""The fraction of a limit from which on a tree is near it."""

REST: Final = timedelta(hours=1)
"""The time without a message after which a tree has rested. A storm never rests."""

MOST: Final = 1_000_000_000
"""The largest limit."""


class Limit(StrEnum):
    """The limits of a space: four counts of a causal tree, and two counts outside of trees."""

    MESSAGES = "messages"
    DEPTH = "depth"
    """The longest chain in which each message led to the next."""
    HOURS = "hours"
    """The time since the tree began or last rested."""
    CHILDREN = "children"
    """The sessions that were spawned."""
    EXCHANGE = "exchange"
    """Messages that a circle of agents exchanges without a rest, whether they answer each other or not."""
    PROGRESS = "progress"
    """Updates of one task that come within `HURRY` of the one before."""


TREE_LIMITS: Final = (Limit.MESSAGES, Limit.DEPTH, Limit.HOURS, Limit.CHILDREN)
"""The limits on a tree."""

HURRY: Final = timedelta(seconds=5)
"""The interval between two progress updates of a task below which the later one counts as hurried."""


class Limits(NamedTuple):
    """The value of each limit. The defaults are generous: intended work hardly reaches them."""

    messages: int = 2_000
    depth: int = 500
    hours: int = 24
    children: int = 50
    exchange: int = 250
    progress: int = 200

    def of(self, limit: Limit) -> int:
        """Return the value of one limit."""
        return int(getattr(self, limit))


class Tree(NamedTuple):
    """The counts of a causal tree. A message that led to no other message has no tree."""

    root: MessageId
    began_at: datetime
    """The time at which the tree began, or went on after its last rest."""
    updated_at: datetime
    messages: int = 1
    """The number of messages, including the root."""
    depth: int = 0
    """The depth of the deepest message."""
    children: int = 0
    base: int = 0
    """The depth from which on depth counts, after the operator lifted the tree's limits."""
    refused: int = 0
    """The number of messages that were refused."""
    stopped: Limit | None = None
    """The limit that the tree has reached."""
    stopped_at: datetime | None = None
    talks: tuple[Talk, ...] = ()
    """The talks between agents in the tree, the latest first."""

    @property
    def echoes(self) -> tuple[Talk, ...]:
        """The talks that were stopped because they had no news."""
        return tuple(talk for talk in self.talks if talk.stopped_at is not None)

    @property
    def is_stopped(self) -> bool:
        return self.stopped is not None or bool(self.echoes)


class ExceededLimit(NamedTuple):
    """A limit that a tree would exceed."""

    limit: Limit
    counted: int
    """The count that the tree would have; for hours, the time that it has lasted."""
    allowed: int


def new_tree(root: MessageId, now: datetime) -> Tree:
    """Return the tree of a message that has led to no other message yet."""
    return Tree(root, now, now)


def grown(tree: Tree, depth: int, now: datetime, *, spawns: bool = False) -> Tree:
    """Return the tree with one more message, at this depth below its root. A message that `spawns` adds a child."""
    return tree._replace(
        began_at=now if _rests(tree, now) else tree.began_at,
        updated_at=now,
        messages=tree.messages + 1,
        depth=max(tree.depth, depth),
        children=tree.children + spawns,
    )


def counts(tree: Tree, now: datetime) -> Mapping[Limit, int]:
    """Return the counts of a tree, by limit."""
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


def excess(before: Tree, after: Tree, limits: Limits, now: datetime) -> ExceededLimit | None:
    """Return the first limit that the growth from `before` to `after` exceeds, or None. Only a count that grows can
    exceed its limit: a tree with the full number of children may still get messages, and a deep tree may get answers
    nearer to its root."""
    if _fits(after, limits, now):  # the usual case
        return None
    had, has = counts(before, now), counts(after, now)
    for limit in TREE_LIMITS:
        allowed = limits.of(limit)
        if limit is Limit.HOURS:
            if now - after.began_at >= timedelta(hours=allowed):
                return ExceededLimit(limit, has[limit], allowed)
        elif has[limit] > max(allowed, had[limit]):
            return ExceededLimit(limit, has[limit], allowed)
    return None


def is_near(tree: Tree, limits: Limits, now: datetime) -> bool:
    """Tell whether a tree is near one of its limits."""
    return any(count >= NEAR * limits.of(limit) for limit, count in counts(tree, now).items())


def lifted(tree: Tree, now: datetime) -> Tree:
    """Return the tree after the operator lets it go on: all counts start again."""
    return Tree(tree.root, now, now, messages=0, depth=tree.depth, base=tree.depth)


def encode_limits(limits: Limits) -> dict[str, Json]:
    """Return limits as JSON data."""
    return limits._asdict()


def parse_limits(data: object) -> Limits:
    """Parse limits from JSON data. Missing ones get their defaults."""
    if not isinstance(data, Mapping):
        raise Invalid("limits", data, f"use an object with {', '.join(Limit)}")
    given = cast(Mapping[str, Json], data)
    return Limits(**{limit: parse_limit(limit, given[limit]) for limit in Limit if limit in given})


def parse_limit(limit: Limit, value: object) -> int:
    """Parse the value of a limit."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST:
        raise Invalid(str(limit), value, f"use a whole number from 1 to {MOST:,}")
    return value
