"""messages_inbox: the caller's unarchived messages. Nothing is changed."""

from typing import Final

from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import Kind
from covey.core.names import known_scope
from covey.core.times import parse_instant
from covey.services.mail.looking import InboxFilter
from covey.toolkits.answers import as_json
from covey.toolkits.dialogue.listing import listing
from covey.toolkits.tool import Answer, Arguments, Caller, Parameter, Tool

_ANY_STATE: Final = frozenset(DeliveryState)


async def _run(caller: Caller, arguments: Arguments) -> Answer:
    task, kind, since = (arguments.get(name) for name in ("task", "kind", "since"))
    wanted = InboxFilter(
        scope=None if task is None else known_scope(task),
        kind=None if kind is None else Kind(str(kind)),
        since=None if since is None else parse_instant(since),
        states=_ANY_STATE,
    )
    items = await caller.services.dialogue.unarchived(caller.identity.agent)
    return as_json(listing([(item.message, {"state": str(item.state)}) for item in items if wanted.fits(item)]))


MESSAGES_INBOX: Final = Tool(
    name="messages_inbox",
    description=(
        "List the messages to you that are not archived, oldest first. left_out counts those that did not fit: archive "
        "some, or narrow the list."
    ),
    parameters=(
        Parameter("task", "only those of this task (phase)"),
        Parameter("kind", "only those of this kind", choices=tuple(Kind)),
        Parameter("since", "only those sent since then: ISO 8601 with a zone"),
    ),
    run=_run,
    is_read_only=True,
)
