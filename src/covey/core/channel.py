"""The channel: how the people of one place are reached, and what of that is nobody's business."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.names import AgentName
from covey.core.private import PRIVATE

MAX_URL_CHARS: Final = 2048
MIN_SECRET_CHARS: Final = 8
MAX_SECRET_CHARS: Final = 1024


class ChannelKind(StrEnum):
    CONSOLE = "console"
    """A line for each post, where the program runs that carries them."""
    WEBHOOK = "webhook"
    """A POST over HTTP."""


class Style(StrEnum):
    """What a webhook's receiver expects."""

    GENERIC = "generic"
    """The message as JSON."""
    SLACK = "slack"
    DISCORD = "discord"
    FEISHU = "feishu"


class ChannelConfig(NamedTuple):
    """The URL is as secret as the secret: whoever has it can post."""

    name: AgentName
    kind: ChannelKind
    style: Style = Style.GENERIC
    url: str | None = None
    secret: str | None = None
    host: str | None = None
    """Whom the URL leads to; this may be shown."""
    is_signed: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether it can be used here. What came from another space came without its secrets."""
        return self.kind is ChannelKind.CONSOLE or self.url is not None


def parse_secret(text: str) -> str:
    """Return a secret that both sides of a webhook have."""
    secret = text.strip()
    if not MIN_SECRET_CHARS <= len(secret) <= MAX_SECRET_CHARS or not secret.isprintable():
        rule = f"it has {MIN_SECRET_CHARS} to {MAX_SECRET_CHARS} printable characters, on one line"
        raise Invalid("secret", "…", rule)
    return secret


def console(name: AgentName) -> ChannelConfig:
    """Return a channel that writes lines."""
    return ChannelConfig(name, ChannelKind.CONSOLE)


def webhook(name: AgentName, url: str, style: Style = Style.GENERIC, secret: str | None = None) -> ChannelConfig:
    """Return a channel behind a URL. What is wrong with it is said without showing it."""
    if len(url) > MAX_URL_CHARS or not url.isascii() or not url.isprintable() or " " in url:
        raise Invalid("url", "…", f"use at most {MAX_URL_CHARS} characters of ASCII without spaces")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise Invalid("url", "…", "its host or port can't be read") from None
    if parts.scheme not in ("http", "https") or not host:
        raise Invalid("url", "…", "use http://HOST/… or https://HOST/…")
    if "@" in parts.netloc:
        raise Invalid("url", "…", "a name and a password in it are not used")
    shown = f"[{host}]" if ":" in host else host
    where = shown if port is None else f"{shown}:{port}"
    return ChannelConfig(name, ChannelKind.WEBHOOK, style, url, secret, where, secret is not None)


def setting_of(name: AgentName) -> str:
    """Return the setting that says what a channel is."""
    return f"channel.{name}"


def private_setting_of(name: AgentName) -> str:
    """Return the setting that holds what of it is secret, and stays in this space."""
    return f"{PRIVATE}{setting_of(name)}"


def public_of(config: ChannelConfig) -> dict[str, Json]:
    """Return what everyone may know of a channel."""
    is_webhook = config.kind is ChannelKind.WEBHOOK
    return {
        "kind": str(config.kind),
        "style": str(config.style) if is_webhook else None,
        "host": config.host,
        "signed": config.is_signed,
    }


def private_of(config: ChannelConfig) -> dict[str, Json]:
    """Return what only whoever posts needs to know."""
    return {"url": config.url, "secret": config.secret}


def read_config(name: AgentName, public: str | None, private: str | None) -> ChannelConfig | None:
    """Return the channel that its two settings stand for; None where there is none."""
    if not public:
        return None
    shown, hidden = _object(public), _object(private or "{}")
    try:
        kind = ChannelKind(str(shown.get("kind")))
        style = Style(str(shown.get("style") or Style.GENERIC))
    except ValueError:
        raise Invalid(setting_of(name), public, "this program knows no such kind of channel") from None
    return ChannelConfig(
        name,
        kind,
        style,
        _text(hidden.get("url")),
        _text(hidden.get("secret")),
        _text(shown.get("host")),
        shown.get("signed") is True,
    )


def _object(document: str) -> Mapping[str, Json]:
    return cast(Mapping[str, Json], json.loads(document))


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
