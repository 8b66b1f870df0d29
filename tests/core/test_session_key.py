"""Session keys: they show agent, parents and depth, and can be parsed from text."""

import pytest
from hypothesis import given

from covey.core.errors import Invalid
from covey.core.identity import AddressKind, SessionKey, main_key, parse_address, parse_session_key
from covey.core.names import SessionId
from covey.testing import a_session_id
from tests.core.strategies import main_keys, session_ids, session_keys


@pytest.mark.requirement("sessions.key")
@given(session_keys)
def test_a_key_is_parsed_back_from_its_text(key: SessionKey) -> None:
    assert parse_session_key(str(key)) == key
    assert parse_address(str(key)) == (AddressKind.KEY, str(key))


@pytest.mark.requirement("sessions.key")
@given(session_keys, session_ids)
def test_a_child_shows_its_parent_its_depth_and_its_root(key: SessionKey, child_id: SessionId) -> None:
    child = key.child(child_id)
    assert child.depth == key.depth + 1
    assert child.agent == key.agent
    assert child.parent == (main_key(key.agent) if key.is_main else key)
    assert child.root == main_key(key.agent)
    assert not child.is_main
    assert str(child).endswith(f":subagent:{child_id}")


@pytest.mark.requirement("sessions.key")
@given(main_keys)
def test_a_main_key_has_no_parent_and_is_its_own_root(key: SessionKey) -> None:
    assert (key.parent, key.depth, key.root, key.is_main) == (None, 0, key, True)


@pytest.mark.parametrize(
    "text",
    [
        "agent:bob",
        "agent:bob:",
        "agent::main",
        "agent:bob:side",
        "agent:bob:main:",
        "agent:bob:main:x",
        "agent:bob:main:main",
        "agent:bob:subagent",
        "agent:bob:subagent:x",
        f"agent:bob:main:subagent:{a_session_id()}",
        f"agent:bob:subagent:{a_session_id()}:main",
        f"agent:bob:subagent:{a_session_id()}:{a_session_id(2)}",
        f"agent:bob:subagent:{a_session_id().replace('-', '')}",
        f"agent:{a_session_id()}:main",
        f"agent:{'x' * 65}:main",
        "agent:../x:main",
        "agent:bob:main\n",
        " agent:bob:main",
        "Agent:bob:main",
    ],
)
def test_an_invalid_key_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse_session_key(text)
