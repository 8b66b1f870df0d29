"""Foreign ids: to the holder of an agent's token, an id of another agent is as unknown as one that never existed, in
every call."""

import inspect
from collections.abc import Sequence
from typing import Any, Final, get_type_hints

import pytest

from covey.adapters.memory import MemoryStore
from covey.core.errors import BeyondToken, CoveyError
from covey.core.identity import Grade, Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import AgentName, Label, MessageId, OfferId, TicketId, ticket_id
from covey.core.work.approval import PLAN
from covey.core.work.run import RunId
from covey.ports.children import PythonChild
from covey.services.children.request import SpawnRequest
from covey.services.directory.directory import JoinRequest
from covey.services.mail.recipients import SendPolicy
from tests.properties.any_call import AnyCall, methods
from tests.properties.holder_children import nothing
from tests.properties.holder_story import ANN, BOB, EVE, HolderStory
from tests.properties.world import finish

NEVER: Final = MessageId("1794738090871-00000000-0000-4000-8000-00000000dead")
NAMED: Final = (MessageId, TicketId, RunId, OfferId)
"""Types of ids that belong to an agent. Sessions and agents are visible to everyone."""

Pair = tuple[Any, Any]
"""An id of another agent, and one of the same form that never existed."""


class Neighbours:
    """Ann and bob share one record of every kind. Eve has no part in any of them."""

    def __init__(self) -> None:
        self.story = HolderStory(MemoryStore(), 0)
        wide = self.story.wide
        ann = finish(wide.directory.join(JoinRequest(ANN))).identity
        bob = finish(wide.directory.join(JoinRequest(BOB))).identity
        self.eve = finish(self.story.narrow.directory.join(JoinRequest(EVE))).identity._replace(grade=Grade.TOKEN)
        asking = Draft(Kind.REQUEST, (parse_address(BOB),), (TextPart("?"),), expects_reply=True)
        drafts = (
            asking,
            asking._replace(kind=Kind.NOTIFY, expects_reply=False),
            wide.approvals.prepared(asking, PLAN),
            asking._replace(kind=Kind.TASK, expects_reply=False),
        )
        self.messages = [finish(wide.mail.send(draft, ann, SendPolicy())).message_id for draft in drafts]
        self.task = self.messages[-1]
        showing = finish(wide.offers.offer(bob, "turn"))
        assert showing is not None
        self.offer = showing.offer.id
        run = finish(wide.spawning.spawn(SpawnRequest("do it", agent=BOB, python=PythonChild(nothing)), ann))
        self.run = run.id
        self.messages.append(run.request)

    def pairs(self, name: str, kind: object) -> Sequence[Pair]:
        """Return the pairs of values for a parameter; empty if the parameter names no agent's record."""
        if name == "task_id":
            return [(self.task, NEVER)]
        if kind is TicketId or name == "what":
            return [(ticket_id(one, BOB), ticket_id(NEVER, BOB)) for one in self.messages]
        if kind is RunId:
            return [(self.run, RunId("00000000-0000-4000-8000-00000000dead"))]
        if kind is OfferId:
            return [(self.offer, OfferId("never"))]
        if kind is MessageId:
            return [(one, NEVER) for one in self.messages]
        if kind is Draft:
            draft = Draft(Kind.RESPONSE, (), (TextPart("x"),))
            relay = draft._replace(kind=Kind.NOTIFY, to=(parse_address(ANN),))
            return [
                pair
                for one in self.messages
                for pair in (
                    (draft._replace(in_reply_to=one), draft._replace(in_reply_to=NEVER)),
                    (relay._replace(relaying=one), relay._replace(relaying=NEVER)),
                )
            ]
        return ()


METHODS: Final = methods(HolderStory(MemoryStore(), 0).narrow)


def parameters(service: str, method: str) -> dict[str, object]:
    """Return the parameters of a method that name a record, with their types."""
    function = getattr(getattr(HolderStory(MemoryStore(), 0).narrow, service), method)
    hints = get_type_hints(function)
    names = inspect.signature(function).parameters
    return {name: hints[name] for name in names if hints[name] in (*NAMED, Draft) or name in ("task_id", "what")}


CALLS: Final = [(service, method) for service, method in METHODS if parameters(service, method)]


@pytest.mark.parametrize(("service", "method"), CALLS)
@pytest.mark.requirement("identity.grades")
def test_the_id_of_another_agent_is_as_unknown_as_one_that_never_existed(service: str, method: str) -> None:
    for name, kind in parameters(service, method).items():
        for n in range(len(Neighbours().pairs(name, kind))):
            told = [outcome(service, method, name, kind, n, side) for side in (0, 1)]
            assert told[0] == told[1], f"{service}.{method}({name}) tells the holder that an id is another's"


def outcome(service: str, method: str, name: str, kind: object, n: int, side: int) -> str:
    """Return the outcome of a call as text, without the id that the call named."""
    neighbours = Neighbours()
    narrow = neighbours.story.narrow
    given = neighbours.pairs(name, kind)[n][side]
    call = AnyCall(service, method, {**arguments(neighbours, service, method), name: given})
    try:
        result: Any = call.on(narrow)
        told = repr(finish(result) if hasattr(result, "__await__") else result)
    except CoveyError as error:
        told = f"{type(error).__name__} {error.code} {error.message}"
    for one in (*neighbours.messages, NEVER, neighbours.run, neighbours.offer, str(given)):
        told = told.replace(str(one), "ID")
    return told.replace("00000000-0000-4000-8000-00000000dead", "ID")


def arguments(neighbours: Neighbours, service: str, method: str) -> dict[str, Any]:
    """Return the other arguments of a method: eve acts, and with a timeout of zero."""
    function = getattr(getattr(neighbours.story.narrow, service), method)
    hints = get_type_hints(function)
    values = neighbours.story._values()  # pyright: ignore[reportPrivateUsage]
    made: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if hints[name] is Identity:
            made[name] = neighbours.eve
        elif name == "timeout":
            made[name] = 0.0
        elif parameter.default is inspect.Parameter.empty:
            made[name] = (values.get(name) or values[hints[name]])()
    return made


def test_every_call_that_takes_an_id_is_tried() -> None:
    """Calls by which surfaces pass ids must be among those tried."""
    tried = {f"{service}.{method}" for service, method in CALLS}
    assert {
        "mail.settle",
        "mail.withdraw",
        "mail.receipt",
        "dialogue.archive",
        "dialogue.waive",
        "dialogue.thread",
        "approvals.decide",
        "asks.resume",
        "tasks.cancel",
        "duties.accept",
        "duties.complete",
        "spawning.stop",
        "offers.confirm",
        "mail.send",
    } <= tried


def test_a_token_cannot_take_a_label_that_finds_the_session_of_another_agent() -> None:
    story = HolderStory(MemoryStore(), 0)
    label = Label("reviewer")
    finish(story.wide.directory.join(JoinRequest(BOB, label=label)))
    with pytest.raises(BeyondToken, match="take the label reviewer, which a session of bob has"):
        finish(story.narrow.directory.join(JoinRequest(EVE, label=label)))
    wish = SpawnRequest("do it", label=label, python=PythonChild(nothing))
    with pytest.raises(BeyondToken):
        finish(story.narrow.spawning.spawn(wish, Identity(EVE, None, Grade.TOKEN)))
    assert finish(story.wide.directory.labelled(label)).agent == BOB
    for taken in ("Reviewer", "bob", "Bob"):  # a label in another case, and the name of another agent
        with pytest.raises(BeyondToken):
            finish(story.narrow.directory.join(JoinRequest(EVE, label=Label(taken))))
    own = finish(story.narrow.directory.join(JoinRequest(EVE, label=Label("mine")))).session
    again = finish(story.narrow.directory.join(JoinRequest(EVE, label=Label("mine")))).session
    assert (own.agent, again.agent) == (AgentName("eve"), AgentName("eve"))
