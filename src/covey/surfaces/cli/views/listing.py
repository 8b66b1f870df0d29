"""The listing of an inbox, for people."""

from collections.abc import Sequence
from datetime import datetime

from covey.core.ledger.message import Kind, Message
from covey.core.work.approval import requested
from covey.services.mail.looking import Item
from covey.surfaces.cli.options.when import age
from covey.surfaces.cli.terminal.output import Output
from covey.surfaces.cli.views.headline import about, extras


def show_items(output: Output, items: Sequence[Item], now: datetime, nothing: str) -> None:
    """Show waiting messages, one line each, or say that there are none."""
    output.table(
        ("#", "age", "from", "kind", "state", "about", "text"),
        [
            (
                str(item.delivery.number),
                age(item.message.created_at, now),
                str(item.message.sender),
                _kind(item.message),
                str(item.state),
                about(item.message),
                " ".join((item.message.text, *(f"[{extra}]" for extra in extras(item.message)))).strip(),
            )
            for item in items
        ],
        nothing,
    )


def _kind(message: Message) -> str:
    if request := requested(message):
        return f"approval ({request.label})"
    is_idle = message.kind is Kind.REQUEST and not message.expects_reply
    return f"{message.kind} (no reply)" if is_idle else str(message.kind)
