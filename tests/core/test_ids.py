"""Ids: a sender can't choose one that the space derives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.core.errors import Invalid
from covey.core.names import derived_message_id, parse_message_id, parse_new_message_id

digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
milliseconds = st.integers(0, 10**13 - 1)


@pytest.mark.requirement("trust.reserved")
@given(milliseconds, digests)
def test_no_sender_can_take_an_id_that_the_space_derives(millis: int, digest: str) -> None:
    derived = derived_message_id(millis, digest)
    assert parse_message_id(derived) == derived
    with pytest.raises(Invalid, match="version 8"):
        parse_new_message_id(derived)


@given(milliseconds, st.uuids(version=4))
def test_a_sender_can_choose_any_other_id(millis: int, uuid: object) -> None:
    chosen = f"{millis:013d}-{uuid}"
    assert parse_new_message_id(chosen) == chosen
