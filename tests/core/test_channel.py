"""Channels: what can be one, and what of it is secret."""

import json
from datetime import timedelta

import pytest

from covey.core.binding import parse_bound, parse_conversation, parse_person
from covey.core.channel import (
    ChannelKind,
    Style,
    console,
    parse_secret,
    private_of,
    private_setting_of,
    public_of,
    read_config,
    webhook,
)
from covey.core.errors import Invalid
from covey.core.names import AgentName
from covey.core.private import is_private
from covey.core.signature import MAX_SKEW, is_signed, signature
from covey.testing import START

OPS = AgentName("ops")
SECRET = "a secret of ours"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://hooks.slack.com/services/T/B/x", "hooks.slack.com"),
        ("http://127.0.0.1:9/", "127.0.0.1:9"),
        ("http://[::1]:9/hook", "[::1]:9"),
        ("HTTPS://Example.org", "example.org"),
    ],
)
def test_only_the_host_of_a_url_is_shown(url: str, host: str) -> None:
    config = webhook(OPS, url, Style.SLACK, SECRET)
    assert config.host == host
    shown = json.dumps(public_of(config))
    assert SECRET not in shown
    assert url not in shown
    assert read_config(OPS, shown, json.dumps(private_of(config))) == config


@pytest.mark.parametrize(
    "url",
    ["", "example.org", "ftp://example.org/", "http://", "http:///x", "http://a b/", "http://ü/", "http://h:99999/",
     "http://h:x/", "http://user:pass@h/", "http://user@h/", "http://[::1/", "http://h/\n", "http://h/" + "x" * 3000],
)  # fmt: skip
def test_a_url_that_leads_nowhere_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(Invalid) as caught:
        webhook(OPS, url)
    assert len(url) < 8 or url not in str(caught.value)


def test_what_came_from_another_space_is_there_and_can_not_be_used() -> None:
    config = read_config(OPS, json.dumps(public_of(webhook(OPS, "https://h/x", secret=SECRET))), None)
    assert config is not None
    assert (config.is_complete, config.is_signed, config.secret, config.host) == (False, True, None, "h")
    assert read_config(OPS, "", "") is None
    assert read_config(OPS, None, None) is None
    plain = read_config(OPS, json.dumps(public_of(console(OPS))), None)
    assert plain is not None
    assert (plain.kind, plain.is_complete) == (ChannelKind.CONSOLE, True)
    with pytest.raises(Invalid):
        read_config(OPS, '{"kind": "pigeon"}', None)


def test_secrets_are_kept_in_private_settings() -> None:
    assert is_private(private_setting_of(OPS))
    assert not is_private("channel.ops")


@pytest.mark.parametrize("text", ["", "short", "x" * 1025, "two\nlines of it", "with \x00 zero"])
def test_a_secret_that_is_none_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_secret(text)
    assert not text or text not in str(caught.value)
    assert parse_secret(f"  {SECRET}\n") == SECRET


@pytest.mark.parametrize("text", ["", "x" * 257, "a\nb", "\x1b[31m", 5, None])
def test_conversations_and_people_have_printable_names(text: object) -> None:
    for parse in (parse_conversation, parse_person):
        with pytest.raises(Invalid):
            parse(text)
    assert parse_conversation("oc_语 🐦") == "oc_语 🐦"


@pytest.mark.parametrize("text", ["*", "", "not a name", None])
def test_a_conversation_is_bound_to_one_agent_or_session(text: object) -> None:
    with pytest.raises(Invalid):
        parse_bound(text)
    assert str(parse_bound("agent:coder:main")) == "agent:coder:main"


def test_a_signature_is_of_one_body_at_one_time_with_one_secret() -> None:
    now = str(int(START.timestamp()))
    given = signature(SECRET, now, b"body")
    assert given.startswith("sha256=")
    assert is_signed(SECRET, now, b"body", given, START)
    assert is_signed(SECRET, now, b"body", given, START + MAX_SKEW)
    assert is_signed(SECRET, now, b"body", given, START - MAX_SKEW)
    assert not is_signed(SECRET, now, b"body", given, START + MAX_SKEW + timedelta(seconds=1))
    assert not is_signed(SECRET, now, b"bodY", given, START)
    assert not is_signed(SECRET + "!", now, b"body", given, START)
    assert not is_signed(SECRET, str(int(now) + 1), b"body", given, START)
    for odd in ("", "x", "-1", "1e9", "²", "9" * 40):
        assert not is_signed(SECRET, odd, b"body", signature(SECRET, odd, b"body"), START)
    for odd in ("", "sha256=", given.upper(), "\udcff"):
        assert not is_signed(SECRET, now, b"body", odd, START)
