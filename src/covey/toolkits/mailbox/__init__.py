"""The mailbox toolkit: agents with cards, messages in parts that wait for offline agents, and tasks."""

from typing import Final

from covey.core.attention.pending import Instructions
from covey.toolkits.mailbox.delegate_task import DELEGATE_TASK
from covey.toolkits.mailbox.list_agents import LIST_AGENTS
from covey.toolkits.mailbox.list_tasks import LIST_TASKS
from covey.toolkits.mailbox.send_message import SEND_MESSAGE
from covey.toolkits.mailbox.update_task import UPDATE_TASK
from covey.toolkits.read_message import READ_MESSAGE, REST
from covey.toolkits.tasks import TASK_WAY
from covey.toolkits.tool import Toolkit

TOOLKIT: Final = Toolkit(
    name="mailbox",
    about="agents with cards, messages in parts that wait for offline agents, and tasks",
    instructions=(
        "Other agents have mailboxes. list_agents shows what each can do. What you send with send_message waits until "
        "its receiver reads it, also while it is offline. Answer with reply_to. Don't pass a message on to an "
        "agent that is in its trace. Work for others is a task: delegate_task hands it over, update_task reports "
        "on one that you were given. Its updates and its result come to you as messages."
    ),
    tools=(LIST_AGENTS, SEND_MESSAGE, DELEGATE_TASK, UPDATE_TASK, LIST_TASKS, READ_MESSAGE),
    ways=Instructions(
        more="they come at your next turn",
        rest=REST,
        answer="send_message(to=SENDER, reply_to=NUMBER, …)",
        task=TASK_WAY,
        decide='send_message(to=SENDER, reply_to={number}, …) with data {{"approve": true}}, or false and a "reason"',
    ),
)
