"""The mailbox toolkit: agents with cards, and messages in parts that wait for who is offline."""

from typing import Final

from covey.core.attention import Ways
from covey.toolkits.mailbox.list_agents import LIST_AGENTS
from covey.toolkits.mailbox.send_message import SEND_MESSAGE
from covey.toolkits.tool import Toolkit

TOOLKIT: Final = Toolkit(
    name="mailbox",
    about="agents with cards, and messages in parts that wait for who is offline",
    instructions=(
        "Other agents have mailboxes. list_agents shows what each can do. What you send with send_message waits until "
        "its receiver reads it, also while that one is offline. Answer with reply_to. Don't pass a message on to an "
        "agent that stands in its trace."
    ),
    tools=(LIST_AGENTS, SEND_MESSAGE),
    ways=Ways(
        more="they come at your next turn",
        rest="ask its sender to send it in smaller parts",
        answer="send_message(to=SENDER, reply_to=NUMBER, …)",
    ),
)
