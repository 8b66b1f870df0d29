"""Storms: causal trees that have reached their limits, exchanges that repeat themselves, and lifting their stops."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from covey.core.authority import check_operator
from covey.core.errors import MessageUnknown
from covey.core.identity import Identity
from covey.core.ids import MessageId
from covey.core.ledger.event import Action
from covey.core.ledger.message import Message
from covey.core.storms.budget import STORM_LIMITS, Limit, Limits, Tree, encode_limits, is_near, lifted, parse_limit
from covey.core.storms.stop import Stop
from covey.ports.clock import Clock
from covey.ports.store import Store, Transaction
from covey.services.act import Act, journal
from covey.services.known import known_message
from covey.services.storms.check import limits_of
from covey.services.storms.flows import lift_stop, stops_at

MOST: Final = 10_000
"""The number of trees that are searched for those near a limit."""


class TreeView(NamedTuple):
    """A tree, and its root message; None if that was pruned."""

    tree: Tree
    root: Message | None


class Storms:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def limits(self) -> Limits:
        """Return the limits of causal trees in this space."""
        return await self._store.read(limits_of)

    async def set_limits(self, changes: Mapping[Limit, int], actor: Identity) -> Limits:
        """Change some of the limits, for existing and future trees. Return all limits."""
        check_operator(actor, "change the limits of the space")
        wanted = {limit: parse_limit(limit, value) for limit, value in changes.items()}

        async def operation(tx: Transaction) -> Limits:
            limits = (await limits_of(tx))._replace(**{str(limit): value for limit, value in wanted.items()})
            await tx.settings.put(STORM_LIMITS, json.dumps(encode_limits(limits)))
            act = Act(tx, actor, self._clock.now())
            await journal(act, Action.SETTING_CHANGED, setting=STORM_LIMITS, value=encode_limits(limits))
            return limits

        return await self._store.commit(operation)

    async def lift(self, message_id: MessageId, actor: Identity) -> Tree | Stop:
        """Resume an exchange that was stopped after a message, or the progress of a task; otherwise the tree of the
        message. All counts start again."""
        check_operator(actor, "lift what was stopped")

        async def operation(tx: Transaction) -> Tree | Stop:
            act = Act(tx, actor, self._clock.now())
            for stop in await stops_at(tx, act.now):
                if stop.id == message_id:
                    await lift_stop(act, stop)
                    return stop
            found = await tx.trees.get(message_id) or await tx.trees.get((await known_message(tx, message_id)).root)
            if found is None:  # the message has caused nothing yet
                raise MessageUnknown(message_id)
            tree = lifted(found, act.now)
            await tx.trees.put(tree)
            await journal(act, Action.STORM_LIFTED, message_id=tree.root, tree=tree.root, messages=found.messages)
            return tree

        return await self._store.commit(operation)

    async def exchanges(self) -> Sequence[Stop]:
        """Return the exchanges and tasks that are stopped now, oldest first."""
        return await self._store.read(lambda tx: stops_at(tx, self._clock.now()))

    async def stopped(self) -> Sequence[Tree]:
        """Return the stopped trees, the most recently grown first."""
        return await self._store.read(lambda tx: tx.trees.stopped())

    async def look(self, *, is_all: bool = False, limit: int = 100) -> Sequence[TreeView]:
        """Return the stopped trees, then the recently grown trees near a limit, or with `is_all` all recently grown
        trees. Recent means within the time limit of a tree."""

        async def operation(tx: Transaction) -> Sequence[TreeView]:
            limits, now = await limits_of(tx), self._clock.now()
            stopped = await tx.trees.stopped()
            lately = await tx.trees.since(now - timedelta(hours=min(limits.hours, 24 * 366)), MOST)
            near = [t for t in lately if not t.is_stopped and (is_all or is_near(t, limits, now))]
            return [TreeView(tree, await tx.messages.get(tree.root)) for tree in (*stopped, *near)[:limit]]

        return await self._store.read(operation, is_long=True)
