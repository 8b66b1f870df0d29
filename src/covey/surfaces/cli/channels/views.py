"""Channels and posts, for people and programs, without secrets that would allow posting."""

from datetime import datetime

from covey.core.channels.channel import ChannelConfig, ChannelKind
from covey.core.channels.post import Binding, OutgoingPost, Post, PostState
from covey.core.json import Json
from covey.core.names import delivery_message
from covey.core.times import format_instant
from covey.services.channels.channels import ChannelView
from covey.surfaces.cli.terminal.text import one_line
from covey.surfaces.cli.times import age

WORDS = {PostState.PENDING: "deferred"}
"""Words for the outcome of an attempt, if they differ from the state of the post."""


def channel_document(view: ChannelView) -> dict[str, Json]:
    """Return a channel as a JSON document."""
    config = view.config
    return {
        "channel": view.name,
        "kind": str(config.kind) if config else None,
        "style": str(config.style) if config and config.kind is ChannelKind.WEBHOOK else None,
        "host": config.host if config else None,
        "signed": config.is_signed if config else False,
        "usable": config is not None and config.is_complete,
        "waiting": view.waiting,
        "failed": view.failed,
        "next_at": format_instant(view.next_at) if view.next_at else None,
        "error": view.error,
        "bindings": [binding_document(binding) for binding in view.bindings],
    }


def binding_document(binding: Binding) -> dict[str, Json]:
    """Return a binding as a JSON document."""
    return {
        "channel": binding.channel,
        "conversation": binding.conversation,
        "to": binding.to.value,
        "bound_at": format_instant(binding.bound_at),
    }


def post_document(post: Post) -> dict[str, Json]:
    """Return a post as a JSON document."""
    return {
        "post": post.id,
        "message": delivery_message(post.id),
        "channel": post.channel,
        "conversation": post.conversation,
        "state": str(post.state),
        "attempts": post.attempts,
        "created_at": format_instant(post.created_at),
        "next_at": format_instant(post.next_at) if post.next_at else None,
        "error": post.error,
    }


def place_of(config: ChannelConfig | None) -> str:
    """Return the medium of a channel in a word or two, for people."""
    if config is None:
        return "not set up"
    if config.kind is ChannelKind.CONSOLE:
        return "console"
    missing = "" if config.is_complete else ", URL not known here"
    return f"{config.style} {config.host}{missing}"


def trouble_of(view: ChannelView, now: datetime) -> str:
    """Return the failed posts, the next retry and the last error of a channel, for people."""
    soon = f"next try in {age(now, view.next_at)}" if view.next_at is not None and view.next_at > now else ""
    failed = f"{view.failed} failed" if view.failed else ""
    return ", ".join(filter(None, (failed, soon if view.error else "", view.error)))


def conversation_of(conversation: str) -> str:
    """Return the name of a conversation, for people."""
    return conversation or "(its own)"


def post_row(outgoing: OutgoingPost, now: datetime) -> tuple[str, ...]:
    """Return a post as a row for people."""
    post, message = outgoing
    return (
        post.id,
        age(post.created_at, now),
        conversation_of(post.conversation),
        message.sender.agent,
        str(post.state),
        str(post.attempts),
        post.error or "",
        one_line(message.text),
    )
