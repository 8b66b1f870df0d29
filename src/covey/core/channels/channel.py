"""The channel: its configuration, in a public and a private part. Private settings never leave their space."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

from covey.core.errors import Invalid
from covey.core.json import Json
from covey.core.names import AgentName

PRIVATE: Final = "private."
"""The prefix of their names. Exports, listings and the journal leave private settings out."""


def is_private(setting: str) -> bool:
    """Tell whether a setting stays in its space."""
    return setting.startswith(PRIVATE)


MAX_URL_CHARS: Final = 2048
MIN_SECRET_CHARS: Final = 8
MAX_SECRET_CHARS: Final = 1024


class ChannelKind(StrEnum):
    CONSOLE = "console"
    """A line for each post, on the console of the program that carries the posts."""
    WEBHOOK = "webhook"
    """A POST over HTTP."""


class WebhookStyle(StrEnum):
    """The format that a webhook's receiver expects."""

    GENERIC = "generic"
    """The message as JSON."""
    SLACK = "slack"
    DISCORD = "discord"
    FEISHU = "feishu"


class ChannelConfig(NamedTuple):
    """The configuration of a channel. The URL is as secret as the secret: a program that has it can post."""

    name: AgentName
    kind: ChannelKind
    style: WebhookStyle = WebhookStyle.GENERIC
    url: str | None = None
    secret: str | None = None
    host: str | None = None
    """The host and port of the URL; these may be shown."""
    is_signed: bool = False

    @property
    def is_complete(self) -> bool:
        """True if the channel can be used here. An imported channel has no URL and no secret."""
        return self.kind is ChannelKind.CONSOLE or self.url is not None


def parse_secret(text: str) -> str:
    """Parse the secret that both sides of a webhook share."""
    secret = text.strip()
    if not MIN_SECRET_CHARS <= len(secret) <= MAX_SECRET_CHARS or not secret.isprintable():
        rule = f"it has {MIN_SECRET_CHARS} to {MAX_SECRET_CHARS} printable characters, on one line"
        raise Invalid("secret", "…", rule)
    return secret


def console(name: AgentName) -> ChannelConfig:
    """Return the configuration of a channel that writes lines to a console."""
    return ChannelConfig(name, ChannelKind.CONSOLE)


def webhook(
    name: AgentName, url: str, style: WebhookStyle = WebhookStyle.GENERIC, secret: str | None = None
) -> ChannelConfig:
    """Return the configuration of a channel that posts to a URL. Errors do not show the URL."""
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
        raise Invalid("url", "…", "a URL with a name and a password is not accepted")
    shown = f"[{host}]" if ":" in host else host
    where = shown if port is None else f"{shown}:{port}"
    return ChannelConfig(name, ChannelKind.WEBHOOK, style, url, secret, where, secret is not None)


def setting_of(name: AgentName) -> str:
    """Return the name of the setting with the public part of a channel's configuration."""
    return f"channel.{name}"


def private_setting_of(name: AgentName) -> str:
    """Return the name of the setting with the secret part of a channel's configuration, which stays in this space."""
    return f"{PRIVATE}{setting_of(name)}"


def public_of(config: ChannelConfig) -> dict[str, Json]:
    """Return the public part of a channel's configuration."""
    is_webhook = config.kind is ChannelKind.WEBHOOK
    return {
        "kind": str(config.kind),
        "style": str(config.style) if is_webhook else None,
        "host": config.host,
        "signed": config.is_signed,
    }


def private_of(config: ChannelConfig) -> dict[str, Json]:
    """Return the secret part of a channel's configuration, which only the program that posts needs."""
    return {"url": config.url, "secret": config.secret}


def read_config(name: AgentName, public: str | None, private: str | None) -> ChannelConfig | None:
    """Return a channel's configuration from its two settings; None if there is no such channel."""
    if not public:
        return None
    shown, hidden = _object(public), _object(private or "{}")
    try:
        kind = ChannelKind(str(shown.get("kind")))
        style = WebhookStyle(str(shown.get("style") or WebhookStyle.GENERIC))
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
