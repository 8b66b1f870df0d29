"""The broadcast toolkit: agents that work in parallel tell each other what they do, ask, and reply by number."""

from typing import Final

from covey.core.attention.pending import Instructions
from covey.core.ledger.offer import Presentation
from covey.toolkits.broadcast.broadcast import BROADCAST
from covey.toolkits.broadcast.dismiss import DISMISS
from covey.toolkits.broadcast.spawn import SPAWN
from covey.toolkits.read_message import READ_MESSAGE_AGAIN, REST
from covey.toolkits.tool import Toolkit

TOOLKIT: Final = Toolkit(
    name="broadcast",
    about="parallel agents that tell all, ask one, and reply by number",
    instructions=(
        "Other agents work beside you. Announce yourself first: broadcast what you are working on. Results of "
        "broadcast that you did not call yourself show you who else is there and what they wrote to you; a message "
        "stays there until you reply to it (reply_to) or dismiss it."
    ),
    tools=(BROADCAST, DISMISS, SPAWN, READ_MESSAGE_AGAIN),
    presentation=Presentation.UNTIL_HANDLED,
    ways=Instructions(
        more="reply to or dismiss some of these; the others follow",
        rest=REST,
        answer="broadcast(reply_to=NUMBER, message=…)",
        decide='broadcast(reply_to={number}, message=JSON), JSON being {{"approve": true}}, or false and a "reason"',
        task="",
    ),
)
