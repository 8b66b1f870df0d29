"""Builders of records: the records are valid, and the package exports what it declares."""

import subprocess
import sys

import covey.testing
import covey.testing.contracts
from covey.core.identity import parse_session_key
from covey.core.ledger.message import Kind
from covey.core.ledger.wire import decode, encode
from covey.core.names import parse_message_id, parse_offer_id, parse_session_id, parse_ticket_id
from covey.testing import a_delivery, a_message, a_session, a_ticket, a_token, an_agent, an_event, an_offer


def test_messages_are_valid_on_the_wire() -> None:
    for n, kind in enumerate(Kind, 1):
        message = a_message(n, kind=kind, scope="s", subject="topic")
        assert decode(encode(message)) == message


def test_ids_are_valid() -> None:
    parse_message_id(a_delivery(3).message_id)
    parse_session_id(a_session(3).id)
    parse_session_key(str(a_session(3).key))
    parse_offer_id(an_offer(3).id)
    parse_ticket_id(a_ticket(3).id)


def test_records_with_different_numbers_are_different() -> None:
    for build in (a_message, a_delivery, a_session, a_ticket, an_offer, an_event, a_token):
        assert build(1) != build(2)
        assert build(1) == build(1)
    assert an_agent("a") != an_agent("b")


def test_records_of_one_number_belong_together() -> None:
    assert a_message(4).id == a_delivery(4).message_id == a_ticket(4).message_id == an_event(4).message_id
    assert an_offer(4).deliveries == (a_delivery(4).id,)
    assert an_offer(1, session=4).session == a_session(4).id


def test_the_public_names_exist_and_are_complete() -> None:
    for module in (covey.testing, covey.testing.contracts):
        assert len(set(module.__all__)) == len(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)
    public = {
        name
        for name, value in vars(covey.testing.contracts).items()
        if isinstance(value, type) and name.endswith("Contract")
    }
    assert public <= set(covey.testing.contracts.__all__)


def test_fakes_need_no_pytest() -> None:
    code = "import sys, covey.testing, covey.testing.workers; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=30).returncode == 0
