"""The journal's details of a sent message: as data, and as the stored text."""

from hypothesis import given
from hypothesis import strategies as st

from covey.core.json import to_json
from covey.core.ledger.delivery import DeliveryRecord, DeliveryState
from covey.core.ledger.message import Kind
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.names import delivery_id, parked_inbox, session_inbox, ticket_id
from covey.services.mail.filing import sent_details, sent_text
from covey.testing import START
from tests.core.strategies import agent_names, message_ids, session_ids, texts

inboxes = session_ids.map(session_inbox) | agent_names.map(parked_inbox)
deliveries = st.builds(
    DeliveryRecord,
    st.builds(delivery_id, message_ids, st.integers(1, 10_000)),
    message_ids,
    inboxes,
    agent_names,
    st.sampled_from(DeliveryState),
    st.sampled_from(Kind),
    agent_names,
    st.booleans(),
    st.just(START),
    reason=st.none() | texts,
)
tickets = st.builds(
    Ticket,
    st.builds(ticket_id, message_ids, agent_names),
    message_ids,
    message_ids,
    agent_names,
    agent_names,
    st.just(TicketState.OPEN),
    st.just(START),
)


@given(st.sampled_from(Kind), st.lists(deliveries, max_size=4), st.lists(tickets, max_size=3))
def test_the_data_and_the_text_are_the_same(kind: Kind, placed: list[DeliveryRecord], owed: list[Ticket]) -> None:
    assert sent_text(kind, placed, owed) == to_json(sent_details(kind, placed, owed))
