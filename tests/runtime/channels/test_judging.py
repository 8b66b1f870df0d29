"""The meaning of a receiver's answer, and the request bodies of each style."""

import json
from datetime import timedelta
from typing import Any

import pytest

from covey.adapters.channels.webhook import (
    DISCORD_CHARS,
    FEISHU_BYTES,
    SLACK_CHARS,
    WebhookResponse,
    body_for,
    feishu_sign,
    judged,
)
from covey.core.channels.channel import WebhookStyle, webhook
from covey.core.channels.post import OutgoingPost, PostAcceptance, PostRefusal
from covey.core.ledger.message import DataPart, FilePart, Message, TaskRef, TextPart
from covey.core.names import AgentName
from covey.testing import START, a_message, a_post

OPS = AgentName("ops")
SECRET = "a secret of ours"


def answer(status: int, body: str = "", **headers: str) -> WebhookResponse:
    return WebhookResponse(status, {name.replace("_", "-"): value for name, value in headers.items()}, body.encode())


def body(style: WebhookStyle, message: Message, secret: str | None = None) -> Any:
    config = webhook(OPS, "https://example.org/hook", style, secret)
    return json.loads(body_for(config, OutgoingPost(a_post(), message), "1767225600"))


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_a_success_status_means_posted(status: int) -> None:
    assert judged(answer(status), WebhookStyle.GENERIC, START) == PostAcceptance()


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 599])
def test_a_temporary_failure_is_retried(status: int) -> None:
    assert judged(answer(status, "later"), WebhookStyle.SLACK, START) == PostRefusal(f"{status}: later")


@pytest.mark.parametrize("status", [100, 300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 405, 410, 413, 422])
def test_a_permanent_failure_is_final(status: int) -> None:
    refused = judged(answer(status, "no"), WebhookStyle.DISCORD, START)
    assert isinstance(refused, PostRefusal)
    assert refused.is_final


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("9" * 30, 10**8),
        ("Thu, 01 Jan 2026 00:01:00 GMT", 60),
        ("Thu, 01 Jan 2026 00:01:00", 60),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("", None),
        ("²", None),
    ],
)
def test_a_receiver_asks_for_a_pause_in_seconds_or_as_a_date(said: str, seconds: float | None) -> None:
    refused = judged(answer(429, retry_after=said), WebhookStyle.GENERIC, START)
    assert isinstance(refused, PostRefusal)
    assert refused.retry_after == (None if seconds is None else timedelta(seconds=seconds))


def test_a_reason_is_one_short_line_without_control_characters() -> None:
    refused = judged(answer(500, "<html>\n\x1b[31mbad\x07" + "x" * 10_000), WebhookStyle.GENERIC, START)
    assert isinstance(refused, PostRefusal)
    assert refused.reason.startswith("500: <html> [31mbad xxx")
    assert refused.reason.isprintable()
    assert len(refused.reason) < 250


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ('{"code": 0, "msg": "success"}', PostAcceptance()),
        ('{"StatusCode": 0}', PostAcceptance()),
        ("", PostAcceptance()),
        ("[]", PostAcceptance()),
        ('{"code": 19021, "msg": "sign match fail"}', PostRefusal("code 19021: sign match fail", is_final=True)),
        ('{"code": 11232, "msg": "frequency limited"}', PostRefusal("code 11232: frequency limited")),
    ],
)
def test_feishu_reports_success_in_the_body(said: str, outcome: PostAcceptance | PostRefusal) -> None:
    assert judged(answer(200, said), WebhookStyle.FEISHU, START) == outcome
    assert judged(answer(200, said), WebhookStyle.GENERIC, START) == PostAcceptance()


def test_each_style_has_a_different_body() -> None:
    message = a_message(text="done")._replace(
        parts=(TextPart("done"), DataPart({"n": 1}), FilePart("a.txt", "0" * 64, 5, "text/plain", "/home/a.txt")),
        task=TaskRef("t-1", "completed"),
    )
    words = 'alice: [task completed] done\n\n{"n":1}\n\n[file a.txt, 5 bytes, text/plain]'
    assert body(WebhookStyle.SLACK, message) == {"text": words}
    assert body(WebhookStyle.DISCORD, message) == {"content": words, "allowed_mentions": {"parse": []}}
    assert body(WebhookStyle.FEISHU, message) == {"msg_type": "text", "content": {"text": words}}
    generic = body(WebhookStyle.GENERIC, message)
    assert (generic["text"], generic["data"], generic["task"]) == (
        "done",
        [{"n": 1}],
        {"id": "t-1", "state": "completed"},
    )
    assert [(file["name"], file["path"]) for file in generic["files"]] == [("a.txt", None)]


def test_feishu_requests_are_signed_in_its_own_scheme() -> None:
    signed = body(WebhookStyle.FEISHU, a_message(), SECRET)
    assert (signed["timestamp"], signed["sign"]) == ("1767225600", feishu_sign(SECRET, "1767225600"))
    # printf '' | openssl dgst -sha256 -binary -hmac "$(printf '1599360473\\ndemo-secret')" | base64
    assert feishu_sign("demo-secret", "1599360473") == "3/MaVZ8JLIy4TUG+7KSFJqvUkTKd+HWY8g+56DZWq8s="
    assert SECRET not in json.dumps(signed)


def test_text_of_an_agent_causes_no_mentions() -> None:
    hostile = a_message(text='<!channel> <@U1> @everyone <at user_id="all">all</at> & co')
    assert "<" not in body(WebhookStyle.SLACK, hostile)["text"]
    assert "&amp; co" in body(WebhookStyle.SLACK, hostile)["text"]
    assert body(WebhookStyle.DISCORD, hostile)["allowed_mentions"] == {"parse": []}
    assert "<at" not in body(WebhookStyle.FEISHU, hostile)["content"]["text"]


@pytest.mark.parametrize("letter", ["x", "語", "🐦", '"', "\n"])
def test_a_text_that_is_too_long_for_a_receiver_is_cut_with_a_note(letter: str) -> None:
    message = a_message(text=letter * 100_000)
    note = f"(cut; the whole message is {message.id})"
    slack, discord = body(WebhookStyle.SLACK, message)["text"], body(WebhookStyle.DISCORD, message)["content"]
    feishu = body(WebhookStyle.FEISHU, message)["content"]["text"]
    assert (len(slack), len(discord)) == (SLACK_CHARS, DISCORD_CHARS)
    assert FEISHU_BYTES * 0.8 < len(json.dumps(feishu, ensure_ascii=False).encode()) <= FEISHU_BYTES
    assert all(text.endswith(note) for text in (slack, discord, feishu))
    assert feishu.count("(cut;") == 1
