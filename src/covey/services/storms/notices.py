"""Notices of a stopped storm: to the agents that took part in it, and to the operator."""

from collections.abc import Sequence

from covey.core.errors import CoveyError, EchoStorm
from covey.core.identity import THE_SPACE
from covey.core.ledger.message import DataPart, Message, TextPart
from covey.core.names import OPERATOR, AgentName
from covey.services.act import Act
from covey.services.mail.recipients import introduce
from covey.services.mail.updates import NoticePorts, Told, file_update

NOTHING_TO_ANSWER = "There is nothing to answer: go on with your own work."
NEWS_PASSES = "Something new is still delivered."


async def tell_stopped(
    act: Act,
    refused: Message,
    recipients: Sequence[AgentName],
    error: CoveyError,
    desk: NoticePorts,
    about: Message | None = None,
) -> None:
    """Tell each agent once that a message was not taken, and why. The notice is about the message that led to it,
    because one that was refused is not stored, or about another one that is."""
    about = about or await act.tx.messages.get(refused.cause or refused.root)
    if about is None:  # it was pruned meanwhile; the sender has its refusal, and the journal tells it
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
        notice = Told(known.name, session, (TextPart(text), data))
        await file_update(act, about, notice, THE_SPACE, desk.ids, desk.liveness)
