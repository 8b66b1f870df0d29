"""The conversation of a child: the named one, or a new one on a channel that its parent is connected with."""

from covey.core.address import Address, AddressKind
from covey.core.errors import Invalid
from covey.core.ids import MessageId
from covey.core.message import Callback
from covey.core.names import AgentName
from covey.core.run import Run
from covey.services.act import Act
from covey.services.bindings import bind_conversation


async def bind_child(act: Act, run: Run, thread: Callback | None, relaying: MessageId | None) -> Run:
    """Bind a conversation to the session of a run: the given one, or a new one."""
    thread = thread or Callback(await _channel_for(act, run, relaying), str(run.label or run.id))
    channel = AgentName(thread.channel)
    bound = await act.tx.bindings.get(channel, thread.session_id)
    if bound is not None:
        raise Invalid("thread", thread.session_id, f"that conversation of {channel} is bound to {bound.to}")
    await bind_conversation(act, channel, thread.session_id, Address(AddressKind.SESSION, run.session))
    return run._replace(thread=thread)


async def _channel_for(act: Act, run: Run, relaying: MessageId | None) -> AgentName:
    """Return the channel that the parent is connected with: the source of the message that it acts upon, the one that
    is bound to it, or the only channel of the space."""
    relayed = None if relaying is None else await act.tx.messages.get(relaying)
    if relayed is not None and relayed.callback is not None:
        agent = await act.tx.agents.get(AgentName(relayed.callback.channel))
        if agent is not None and agent.card.channel:
            return agent.name
    session = None if run.parent is None else await act.tx.sessions.get(run.parent)
    names = {run.parent_agent, *((session.id, str(session.key)) if session else ())}
    bound = {binding.channel for binding in await act.tx.bindings.all() if binding.to.value in names}
    found = sorted(bound or {agent.name for agent in await act.tx.agents.all() if agent.card.channel})
    if not found:
        raise Invalid("thread", True, "this space has no channel that people could read along on: add one first")
    if len(found) > 1:
        raise Invalid("thread", True, f"name the channel and the conversation: there are {', '.join(found)}")
    return found[0]
