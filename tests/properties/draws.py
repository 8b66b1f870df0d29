"""Strategies for random operations: few names and scopes, so that the operations often meet."""

from datetime import timedelta
from typing import NamedTuple

from hypothesis import strategies as st

from covey.core.directory.card import Capacity, Card, Overflow, TaskOverflow
from covey.core.directory.routing import WhenOffline
from covey.core.ledger.message import Kind
from covey.core.ledger.offer import EvidenceGrade, Presentation
from covey.core.names import AgentName, Scope, SessionId, Subject
from covey.services.mail.recipients import SendPolicy, WhenUnknown
from covey.testing.fakes import numbered_uuid

NAMES = [AgentName(name) for name in ("ann", "bob", "cy")]
STRANGER = AgentName("dee")
"""An agent that is unknown until a message to it registers it."""
CHANNEL = AgentName("ops")
"""The channel to people."""
EARLY = [SessionId(numbered_uuid(n)) for n in range(0xE001, 0xE005)]
"""Session ids that get mail before a session joins with them."""
PIDS = (71, 72)
SCOPES = [Scope("s1"), Scope("s2")]
SUBJECTS = [Subject("x"), Subject("y")]

which = st.integers(0, 63)
"""An index into the values that exist at that point."""
often = st.sampled_from((True, True, True, False))
seldom = st.sampled_from((False, False, False, True))
names = st.sampled_from(NAMES)
scopes = st.sampled_from(SCOPES)
maybe_scope = st.sampled_from((None, *SCOPES, SCOPES[0]))
maybe_subject = st.sampled_from((None, *SUBJECTS, SUBJECTS[0]))
grades = st.sampled_from(EvidenceGrade)
presentations = st.sampled_from((Presentation.ONCE, Presentation.ONCE, Presentation.UNTIL_HANDLED))
capacities = st.builds(Capacity, st.integers(1, 3), st.sampled_from(Overflow))
seconds = st.sampled_from((1, 20, 45, 70, 400, 700))
maybe_expiry = st.sampled_from((None, None, None, timedelta(seconds=30), timedelta(seconds=300)))
leases = st.sampled_from((timedelta(seconds=30), timedelta(minutes=10)))
kinds = st.sampled_from((Kind.NOTIFY, Kind.NOTIFY, Kind.REQUEST, Kind.REQUEST, Kind.TASK, Kind.UPDATE))

allows = st.sampled_from((*[("*",)] * 6, (), tuple(NAMES[1:])))
quotas = st.sampled_from((0, 1, 1, 2, 5))
depths = st.sampled_from((0, 1, 2, 3))
cards = st.tuples(
    allows, allows, st.just(Capacity()) | capacities, quotas, st.sampled_from(TaskOverflow), depths, allows
).map(
    lambda drawn: Card(
        allow_from=drawn[0],
        allowed_delegates=drawn[1],
        capacity=drawn[2],
        quota=drawn[3],
        overflow=drawn[4],
        max_depth=drawn[5],
        allow_spawn=drawn[6],
    )
)
policies = st.builds(
    SendPolicy,
    st.sampled_from((*[WhenOffline.PARK] * 4, WhenOffline.REFUSE)),
    st.sampled_from(WhenUnknown),
    st.booleans(),
    seldom,
)


class Whom(NamedTuple):
    """A recipient that is turned into an address once the sessions are known."""

    how: str
    pick: int


whom = st.builds(
    Whom,
    st.sampled_from((*["name"] * 6, "session", "session", "key", "everyone", "everyone", "stranger", "early")),
    which,
)
recipients = st.lists(whom, min_size=1, max_size=1) | st.lists(whom, min_size=1, max_size=3)
