import os
import re
from datetime import UTC, datetime, timedelta

from covey.adapters.system.clock import SystemClock
from covey.adapters.system.ids import SystemIds
from covey.core.names import parse_message_id, parse_offer_id, parse_session_id
from tests.adapters.children import child

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def test_the_clock_returns_the_current_time_in_utc() -> None:
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert now.utcoffset() == timedelta(0)
    assert before <= now <= datetime.now(UTC)


def test_a_message_id_holds_the_exact_millisecond_and_a_uuid() -> None:
    now = datetime(2026, 4, 30, 14, 0, 0, 999_999, tzinfo=UTC)
    text = parse_message_id(SystemIds().message_id(now))
    milliseconds, _, uuid = text.partition("-")
    assert milliseconds == str(int(datetime(2026, 4, 30, 14, tzinfo=UTC).timestamp()) * 1000 + 999)
    assert UUID4.fullmatch(uuid)


def test_a_message_id_is_valid_even_if_the_clock_is_far_off() -> None:
    parse_message_id(SystemIds().message_id(datetime(1969, 1, 1, tzinfo=UTC)))
    parse_message_id(SystemIds().message_id(datetime(1971, 1, 1, tzinfo=UTC)))


def test_ids_are_uuids_of_version_4_and_all_differ() -> None:
    ids = SystemIds()
    made = [parse_session_id(ids.session_id()) for _ in range(2000)]
    made += [parse_session_id(parse_offer_id(ids.offer_id())) for _ in range(2000)]
    assert all(UUID4.fullmatch(text) for text in made)
    assert len(set(made)) == len(made)
    assert {text[19] for text in made} == set("89ab")


def test_a_secret_has_256_bits_and_fits_into_a_url_and_a_command_line() -> None:
    ids = SystemIds()
    secrets = {ids.secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(re.fullmatch(r"[0-9a-f]{64}", secret) for secret in secrets)


def test_a_forked_child_does_not_repeat_its_parents_ids() -> None:
    ids = SystemIds()
    ids.session_id()  # pre-drawn random bytes must not be inherited
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, ids.session_id().encode())
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reader, 100).decode() != ids.session_id()
    os.close(reader)
    os.close(writer)


def test_the_system_adapter_is_light_to_import() -> None:
    program = """
import sys
import covey.adapters.system.clock, covey.adapters.system.ids, covey.adapters.system.liveness
heavy = {"asyncio", "dataclasses", "inspect", "logging", "msgspec", "pathlib", "subprocess", "threading", "uuid"}
print(sorted(heavy & set(sys.modules)))
"""
    with child(program) as process:
        assert process.line() == "[]"
