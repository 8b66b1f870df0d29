"""The worker toolkit: instructions for a worker. Its tools are those of native that a worker needs."""

from typing import Final

from covey.core.work.spawning import WORKER
from covey.toolkits.native.inbox import READ_INBOX, WAYS
from covey.toolkits.native.messages import ASK_AGENT, SEND_MESSAGE
from covey.toolkits.native.tasks import UPDATE_TASK
from covey.toolkits.tool import Toolkit

TOOLKIT: Final = Toolkit(
    name="worker",
    about="do what a coordinator asks, and report once",
    instructions=(
        f"{WORKER}\nMessages to you have numbers: you report with send_message(reply_to=NUMBER), or for a task with "
        "update_task."
    ),
    tools=(READ_INBOX, SEND_MESSAGE, ASK_AGENT, UPDATE_TASK),
    ways=WAYS,
)
