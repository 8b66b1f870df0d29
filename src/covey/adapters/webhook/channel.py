"""The webhook: a signed POST for each post, and what its answer means."""

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, cast

from covey.adapters.webhook.bodies import body_for
from covey.adapters.webhook.exchange import METHOD, Answer, Exchange, Unreachable, target_of
from covey.core.channel import ChannelConfig, Style
from covey.core.limits import POST_SECONDS
from covey.core.post import Outgoing, Posted, Refused
from covey.core.signature import Direction, Signed, signature
from covey.threads import in_a_thread
from covey.version import __version__

RETRIED: Final = frozenset({408, 409, 425, 429})
"""Besides every 5xx: answers that another time may be different. 409 is what some receivers give to a post whose twin
they are busy with."""

FEISHU_BUSY: Final = frozenset({9499, 11232, 11233, 11247})
"""What Feishu calls too many requests; it says so with 200."""

CONTENT_TYPE: Final = "application/json; charset=utf-8"

MAX_REASON: Final = 200


class WebhookChannel:
    """`Channel`. The exchange has a thread of its own, so that a slow receiver holds nobody up; it is broken off when
    its time is over, or nobody waits for it any more."""

    def __init__(self, config: ChannelConfig, now: Callable[[], datetime], seconds: float = POST_SECONDS) -> None:
        self._config = config
        self._now = now
        self._seconds = seconds

    async def post(self, outgoing: Outgoing) -> Posted | Refused:
        url = self._config.url
        if url is None:
            return Refused("the channel has no URL here: add it again")
        timestamp = str(int(self._now().timestamp()))
        body = body_for(self._config, outgoing, timestamp)
        exchange = Exchange(url, self._headers(outgoing, url, timestamp, body), body, self._seconds)
        try:
            async with asyncio.timeout(self._seconds):
                answer = await in_a_thread(exchange.run, "covey webhook")
        except TimeoutError:
            return Refused(f"no answer within {self._seconds:g} s")
        except Unreachable as error:
            return Refused(str(error))
        finally:
            exchange.break_off()
        return judged(answer, self._config.style, self._now())

    def _headers(self, outgoing: Outgoing, url: str, timestamp: str, body: bytes) -> Mapping[str, str]:
        headers = {
            "Content-Type": CONTENT_TYPE,
            "User-Agent": f"covey/{__version__}",
            "Connection": "close",
            "Idempotency-Key": outgoing.post.id,
            "X-Covey-Timestamp": timestamp,
        }
        if self._config.secret is not None:
            key = outgoing.post.id
            signed = Signed(Direction.POSTED, METHOD, target_of(url), timestamp, key, CONTENT_TYPE, body)
            headers["X-Covey-Signature"] = signature(self._config.secret, signed)
        return headers


def judged(answer: Answer, style: Style, now: datetime) -> Posted | Refused:
    """Return what an answer means for the post."""
    status = answer.status
    if 200 <= status < 300:
        return _judged_feishu(answer) if style is Style.FEISHU else Posted()
    if status in RETRIED or status >= 500:
        return Refused(_reason(answer), retry_after=_retry_after(answer, now))
    if 300 <= status < 400:
        return Refused(f"{status}: it is elsewhere now, and redirects are not followed", is_final=True)
    return Refused(_reason(answer), is_final=True)


def _judged_feishu(answer: Answer) -> Posted | Refused:
    """Feishu answers 200 to everything, with a code in the body that is 0 where it took the post."""
    try:
        said: object = json.loads(answer.body)
    except ValueError:
        return Posted()
    if not isinstance(said, dict):
        return Posted()
    fields = cast(Mapping[str, object], said)
    code = fields.get("code", fields.get("StatusCode", 0))
    if code == 0:
        return Posted()
    return Refused(f"code {code}: {_short(str(fields.get('msg', '')))}", is_final=code not in FEISHU_BUSY)


def _reason(answer: Answer) -> str:
    said = _short(answer.body.decode(errors="replace"))
    return f"{answer.status}: {said}" if said else str(answer.status)


def _short(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= MAX_REASON else f"{line[:MAX_REASON]}…"


def _retry_after(answer: Answer, now: datetime) -> timedelta | None:
    """Return how long a receiver wants to be left alone: so many seconds, or until a date."""
    said = answer.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return timedelta(seconds=min(int(said[:9]), 10**8))
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return None
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max(until - now, timedelta())
