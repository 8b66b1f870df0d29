"""Storm check: a message that another one led to must fit the budget of its causal tree, and say something new.

An answer to an open question passes, so that its asker is not left waiting. So do messages from people and to people.
Moves of tasks and notices of the space are not checked here.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from covey.core.directory.routing import Recipient
from covey.core.errors import CoveyError, EchoStorm, TreeExhausted
from covey.core.identity import THE_SPACE
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind, Message
from covey.core.ledger.ticket import Ticket
from covey.core.names import OPERATOR, AgentName
from covey.core.storms.budget import (
    STORM_LIMITS,
    Limit,
    Limits,
    Tree,
    counts,
    excess,
    grown,
    lifted,
    new_tree,
    parse_limits,
)
from covey.core.storms.echo import find_talk, gist, spoken, stopped, talk_key, with_talk
from covey.ports.store import Transaction
from covey.services.act import Act, journal
from covey.services.mail.answers import pays
from covey.services.mail.updates import NoticePorts
from covey.services.storms.notices import tell_stopped

_SAID: Final = frozenset({Kind.NOTIFY, Kind.REQUEST, Kind.RESPONSE})
"""Kinds of messages that can be an echo. A task is taken once, and its updates are not answered."""


class Weighed(NamedTuple):
    """A message that is about to be accepted, with what is known of it then."""

    message: Message
    is_from_person: bool
    """Its sender is the operator, or a channel where people speak."""
    recipients: Sequence[Recipient]
    debts: Sequence[Ticket]
    """The sender's debts for the message that it replies to."""
    spawns: bool = False
    """It is the first prompt of a child."""

    @property
    def agents(self) -> Sequence[AgentName]:
        return [recipient.agent for recipient in self.recipients]

    @property
    def is_due(self) -> bool:
        """True if the message answers an open question of a recipient."""
        return pays(self.message, self.debts, self.agents)

    @property
    def is_to_people(self) -> bool:
        people = [recipient.agent == OPERATOR or recipient.card.channel for recipient in self.recipients]
        return bool(people) and all(people)


async def weigh(act: Act, weighed: Weighed, desk: NoticePorts) -> CoveyError | None:
    """Count a message for its tree, or return why it is not accepted; those whom that concerns are told once. It is
    returned and not raised, because what is written down here stands."""
    message = weighed.message
    before = await act.tx.trees.get(message.root) or new_tree(message.root, act.now)
    if weighed.is_from_person:  # somebody looks after it: it has its whole budget again
        await act.tx.trees.put(grown(lifted(before, act.now), message.depth, act.now))
        return None
    limits = await limits_of(act.tx)
    after = grown(before, message.depth, act.now, spawns=weighed.spawns)
    agents, is_due, is_to_people = weighed.agents, weighed.is_due, weighed.is_to_people
    over = None if is_due or is_to_people else excess(before, after, limits, act.now)
    if over is not None:
        error = TreeExhausted(message.root, over.limit, over.counted, over.allowed)
        await stop_storm(act, message, agents, error, desk)
        return error
    if message.kind in _SAID and not is_to_people:
        known = find_talk(before.talks, talk_key(message.sender.agent, agents))
        talk, is_heard = spoken(known, message.sender.agent, gist(message.parts), act.now, is_due=is_due)
        if not is_heard:
            echo = EchoStorm(message.root, message.sender.agent, agents, sum(known.stale.values()))
            await stop_storm(act, message, agents, echo, desk)
            return echo
        after = after._replace(talks=with_talk(before.talks, talk))
    await act.tx.trees.put(_going_on(act, after, limits))
    return None


async def limits_of(tx: Transaction) -> Limits:
    """Return the limits of a causal tree in this space."""
    return _limits(await tx.settings.get(STORM_LIMITS) or "")


@lru_cache(maxsize=8)
def _limits(text: str) -> Limits:
    return parse_limits(json.loads(text)) if text else Limits()


async def stop_storm(
    act: Act, message: Message, recipients: Sequence[AgentName], error: TreeExhausted | EchoStorm, desk: NoticePorts
) -> None:
    """Write down that a message was not taken into its tree. The first time it is journalled, and those who took part
    are told, and the operator."""
    tree = await act.tx.trees.get(message.root) or new_tree(message.root, act.now)
    if isinstance(error, TreeExhausted):
        is_first = tree.stopped is None
        limit, since = tree.stopped or Limit(str(error.details["limit"])), tree.stopped_at or act.now
        await act.tx.trees.put(tree._replace(refused=tree.refused + 1, stopped=limit, stopped_at=since))
    else:
        talk = stopped(find_talk(tree.talks, talk_key(message.sender.agent, recipients)), act.now)
        is_first = talk.refused == 1
        await act.tx.trees.put(tree._replace(talks=with_talk(tree.talks, talk)))
    if is_first:
        act, sender = act._replace(actor=THE_SPACE), message.sender.agent
        code, details = error.code, error.details
        await journal(act, Action.STORM_STOPPED, message_id=message.root, agent=sender, code=code, refusal=details)
        await tell_stopped(act, message, recipients, error, desk)


def _going_on(act: Act, tree: Tree, limits: Limits) -> Tree:
    """Return a tree that has grown. It is no longer stopped where its limit has been raised."""
    if tree.stopped is None or counts(tree, act.now)[tree.stopped] >= limits.of(tree.stopped):
        return tree
    return tree._replace(stopped=None, stopped_at=None, refused=0)
