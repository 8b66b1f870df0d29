"""Storm check: a message that another one led to must fit the budget of its causal tree, and say something new.

Otherwise the message is refused, and the agents of the exchange and the operator are notified.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from covey.core.directory.routing import Recipient
from covey.core.errors import CoveyError, EchoStorm, TreeExhausted
from covey.core.identity import THE_SPACE
from covey.core.ledger.event import Action
from covey.core.ledger.message import DataPart, Kind, Message, TextPart
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
from covey.services.mail.filing import NoticePorts, UpdateDraft, file_update
from covey.services.mail.recipients import introduce

NOTHING_TO_ANSWER = "Don't answer this: go on with your own work."
NEWS_PASSES = "A message that says something new is still delivered."


async def tell_stopped(
    act: Act,
    refused: Message,
    recipients: Sequence[AgentName],
    error: CoveyError,
    notice_ports: NoticePorts,
    about: Message | None = None,
) -> None:
    """Notify each agent once that a message was refused, with the reason.

    A refused message is not stored. So the notice is about the message `about`, or by default about the cause of the
    refused message.
    """
    about = about or await act.tx.messages.get(refused.cause or refused.root)
    if about is None:  # the message was pruned meanwhile; the sender has the refusal, and the journal records it
        return
    data = DataPart({"storm": error.code, **error.details})
    told: dict[AgentName, str] = {}
    then = f"{NOTHING_TO_ANSWER} {NEWS_PASSES}" if isinstance(error, EchoStorm) else NOTHING_TO_ANSWER
    for agent in (refused.sender.agent, *recipients):
        told[agent] = f"Covey stopped this exchange: {error.message}. {then}"
    told[OPERATOR] = f"A storm was stopped: {error.message}."
    for agent, text in told.items():
        known = await act.tx.agents.get(agent) or await introduce(act, agent)
        session = refused.sender.session if known.name == refused.sender.agent else None
        notice = UpdateDraft(known.name, session, (TextPart(text), data))
        await file_update(act, about, notice, THE_SPACE, notice_ports.ids, notice_ports.liveness)


_SAID: Final = frozenset({Kind.NOTIFY, Kind.REQUEST, Kind.RESPONSE})
"""Kinds of messages that can be an echo. A task is taken once, and its updates are not answered."""


class CheckedMessage(NamedTuple):
    """A message that is about to be accepted, with the facts that the check needs."""

    message: Message
    is_from_person: bool
    """True if the sender is the operator, or a channel to people."""
    recipients: Sequence[Recipient]
    debts: Sequence[Ticket]
    """The sender's debts for the message that this one replies to."""
    spawns: bool = False
    """True if the message is the first prompt of a child."""

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


async def check_storm(act: Act, weighed: CheckedMessage, notice_ports: NoticePorts) -> CoveyError | None:
    """Count a message in its causal tree, or return the error that refuses it.

    The agents concerned are notified once. The error is returned and not raised, because the records written here must
    be committed.
    """
    message = weighed.message
    before = await act.tx.trees.get(message.root) or new_tree(message.root, act.now)
    if weighed.is_from_person:  # a person attends to the tree, so it gets its whole budget again
        await act.tx.trees.put(grown(lifted(before, act.now), message.depth, act.now))
        return None
    limits = await limits_of(act.tx)
    after = grown(before, message.depth, act.now, spawns=weighed.spawns)
    agents, is_due, is_to_people = weighed.agents, weighed.is_due, weighed.is_to_people
    over = None if is_due or is_to_people else excess(before, after, limits, act.now)
    if over is not None:
        error = TreeExhausted(message.root, over.limit, over.counted, over.allowed)
        await stop_storm(act, message, agents, error, notice_ports)
        return error
    if message.kind in _SAID and not is_to_people:
        known = find_talk(before.talks, talk_key(message.sender.agent, agents))
        talk, is_heard = spoken(known, message.sender.agent, gist(message.parts), act.now, is_due=is_due)
        if not is_heard:
            echo = EchoStorm(message.root, message.sender.agent, agents, sum(known.stale.values()))
            await stop_storm(act, message, agents, echo, notice_ports)
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
    act: Act,
    message: Message,
    recipients: Sequence[AgentName],
    error: TreeExhausted | EchoStorm,
    notice_ports: NoticePorts,
) -> None:
    """Record that a message was refused by its tree.

    The first refusal is journalled, and the agents of the exchange and the operator are notified.
    """
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
        await tell_stopped(act, message, recipients, error, notice_ports)


def _going_on(act: Act, tree: Tree, limits: Limits) -> Tree:
    """Return a tree that has grown. It is no longer stopped if its limit has been raised."""
    if tree.stopped is None or counts(tree, act.now)[tree.stopped] >= limits.of(tree.stopped):
        return tree
    return tree._replace(stopped=None, stopped_at=None, refused=0)
