"""The dialogue toolkit: requests, responses and notes of a task, which must be answered and archived before it ends."""

from typing import Final

from covey.core.attention.pending import Instructions
from covey.toolkits.dialogue.messages_archive import MESSAGES_ARCHIVE
from covey.toolkits.dialogue.messages_inbox import MESSAGES_INBOX
from covey.toolkits.dialogue.messages_send import MESSAGES_SEND
from covey.toolkits.dialogue.messages_thread import MESSAGES_THREAD
from covey.toolkits.dialogue.pending import PENDING
from covey.toolkits.read_message import READ_MESSAGE, REST
from covey.toolkits.tool import Toolkit

TOOLKIT: Final = Toolkit(
    name="dialogue",
    about="ask and answer about a task that ends only when nothing is owed",
    instructions=(
        "You work with other agents on a task (its phase). Look at messages_inbox before you edit. Answer each "
        "request that has expects_reply with messages_send(kind=response, in_reply_to=ID), then messages_archive(ID). "
        "The task can't be committed while `pending` lists anything. Ask only what you need to know."
    ),
    tools=(MESSAGES_SEND, MESSAGES_INBOX, MESSAGES_ARCHIVE, MESSAGES_THREAD, PENDING, READ_MESSAGE),
    ways=Instructions(
        more="messages_inbox",
        rest=REST,
        answer="messages_send(kind=response, in_reply_to=ID, …), then messages_archive(id=ID)",
        decide=(
            'messages_send(kind=response, in_reply_to={message}, body=JSON, …), JSON being {{"approve": true}}, or '
            'false and a "reason"'
        ),
        task="",
    ),
)
