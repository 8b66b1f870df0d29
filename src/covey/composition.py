"""Adapters that belong to no engine, for programs that must not import adapters. Each is imported when asked for."""

from typing import TextIO

from covey.adapters.system.clock import SystemClock
from covey.core.store_url import StoreUrl


def carriers(stream: TextIO):
    """Return a factory of channel adapters, which write to the stream or post to the channel's URL."""
    from covey.adapters.channels.console import ConsoleChannel
    from covey.adapters.channels.webhook import WebhookChannel
    from covey.core.channels.channel import ChannelConfig, ChannelKind

    def carrier(config: ChannelConfig):
        is_console = config.kind is ChannelKind.CONSOLE
        return ConsoleChannel(stream) if is_console else WebhookChannel(config, SystemClock().now)

    return carrier


def whole_file(file: str, *, replace: bool):
    """Open a file that appears under its name only when it is complete."""
    from covey.adapters.archive.complete_files import whole_file as new

    return new(file, replace=replace)


def mailboxes(root: str):
    """Return the mailboxes in a folder, for programs that have no ledger, with a clock and a source of ids."""
    from covey.adapters.folder.mailboxes import Mailboxes
    from covey.adapters.system.ids import SystemIds

    return Mailboxes(root), SystemClock(), SystemIds()


def launcher():
    """Return the launcher of programs. It is bound to the event loop on which it is first used, and has to be
    closed."""
    from covey.adapters.process.launcher import ProcessLauncher

    return ProcessLauncher()


def new_nats_key():
    """Create a key pair for a user of a NATS server."""
    from covey.adapters.nats.client.settings import new_key

    return new_key()


def public_nats_key(file: str) -> str:
    """Return the public key for the seed in a file."""
    from covey.adapters.nats.client.settings import public_key

    return public_key("key file", file)


def nats_space(url: StoreUrl) -> str | None:
    """Return the name that a space has on its NATS server; None if the URL leads to no such server."""
    return url.place.rpartition("/")[2] if url.scheme in ("nats", "tls") else None
