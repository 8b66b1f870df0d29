"""Adapters that belong to no engine, for programs that must not import adapters. Each is imported when asked for."""

from typing import TextIO

from covey.adapters.system.clock import SystemClock
from covey.core.store_url import StoreUrl


def carriers(stream: TextIO):
    """Return what makes the adapter of a channel, which writes to the stream or posts to where its URL leads."""
    from covey.adapters.console import ConsoleChannel
    from covey.adapters.webhook import WebhookChannel
    from covey.core.channels.channel import ChannelConfig, ChannelKind

    def carrier(config: ChannelConfig):
        is_console = config.kind is ChannelKind.CONSOLE
        return ConsoleChannel(stream) if is_console else WebhookChannel(config, SystemClock().now)

    return carrier


def whole_file(file: str, *, replace: bool):
    """Return a file that gets its name when it is whole."""
    from covey.adapters.archive.files import whole_file as new

    return new(file, replace=replace)


def mailboxes(root: str):
    """Return the mailboxes in a folder, for programs that have no ledger, with a clock and what makes ids."""
    from covey.adapters.folder.mailboxes import Mailboxes
    from covey.adapters.system.ids import SystemIds

    return Mailboxes(root), SystemClock(), SystemIds()


def launcher():
    """Return what runs programs. It is bound to the event loop on which it is first used, and has to be closed."""
    from covey.adapters.process.launcher import ProcessLauncher

    return ProcessLauncher()


def new_nats_key():
    """Return a new key for a user of a NATS server: the public one and its seed."""
    from covey.adapters.nats.client.keys import new_key

    return new_key()


def public_nats_key(file: str) -> str:
    """Return the public key to the seed in a file."""
    from covey.adapters.nats.client.keys import public_key

    return public_key("key file", file)


def nats_space(url: StoreUrl) -> str | None:
    """Return the name that a space has on its NATS server; None if the URL leads to no such server."""
    return url.place.rpartition("/")[2] if url.scheme in ("nats", "tls") else None
