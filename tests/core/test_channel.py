"""Channels: valid configurations, and the parts that stay secret."""

import json
from datetime import timedelta

import pytest

from covey.core.channels.channel import (
    ChannelKind,
    WebhookStyle,
    console,
    is_private,
    parse_secret,
    private_of,
    private_setting_of,
    public_of,
    read_config,
    webhook,
)
from covey.core.channels.post import parse_bound, parse_conversation, parse_person
from covey.core.errors import Invalid
from covey.core.http import MAX_SKEW, SignatureDirection, SignedFields, is_signed, signature
from covey.core.names import AgentName
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
    config = webhook(OPS, url, WebhookStyle.SLACK, SECRET)
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
def test_an_invalid_url_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(Invalid) as caught:
        webhook(OPS, url)
    assert len(url) < 8 or url not in str(caught.value)


def test_a_channel_without_its_private_settings_is_read_but_incomplete() -> None:
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
def test_an_invalid_secret_is_refused_and_not_shown(text: str) -> None:
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


REQUEST = SignedFields(
    SignatureDirection.SAID,
    "POST",
    "/c-1?x=1",
    str(int(START.timestamp())),
    "k-1",
    "application/json",
    b'{"text": "yes"}',
)


def test_a_signature_is_valid_for_a_limited_time_and_one_secret() -> None:
    given = signature(SECRET, REQUEST)
    assert given.startswith("v1=")
    for apart in (timedelta(0), MAX_SKEW, -MAX_SKEW):
        assert is_signed(SECRET, REQUEST, given, START + apart)
    assert not is_signed(SECRET, REQUEST, given, START + MAX_SKEW + timedelta(seconds=1))
    assert not is_signed(SECRET + "!", REQUEST, given, START)
    for odd in ("", "v1=", given.upper(), given.replace("v1=", "v2="), "sha256=" + given[3:], "\udcff"):
        assert not is_signed(SECRET, REQUEST, odd, START)
    for odd in ("", "x", "-1", "1e9", "²", "9" * 40):
        undated = REQUEST._replace(timestamp=odd)
        assert not is_signed(SECRET, undated, signature(SECRET, undated), START)


@pytest.mark.parametrize("field", SignedFields._fields)
def test_a_signature_covers_every_field_of_a_request(field: str) -> None:
    value = getattr(REQUEST, field)
    others = {"direction": SignatureDirection.POSTED, "timestamp": str(int(REQUEST.timestamp) + 1)}
    other = others.get(field, value + (b" " if isinstance(value, bytes) else "x"))
    assert not is_signed(SECRET, REQUEST._replace(**{field: other}), signature(SECRET, REQUEST), START)


def test_moving_text_from_one_field_into_the_next_changes_the_signature() -> None:
    moved = REQUEST._replace(target=f"{REQUEST.target}\n{REQUEST.timestamp}", timestamp=REQUEST.key, key="")
    assert signature(SECRET, moved) != signature(SECRET, REQUEST)
