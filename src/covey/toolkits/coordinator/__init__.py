"""The coordinator toolkit: divide work among workers, continue those with the knowledge, and join their results."""

from typing import Final

from covey.core.attention.pending import Instructions
from covey.core.directory.roles import COORDINATOR
from covey.toolkits.coordinator.list_workers import LIST_WORKERS
from covey.toolkits.coordinator.send_message_to_worker import SEND_MESSAGE_TO_WORKER
from covey.toolkits.coordinator.spawn_worker import SPAWN_WORKER
from covey.toolkits.coordinator.stop_worker import STOP_WORKER
from covey.toolkits.read_message import READ_MESSAGE, REST
from covey.toolkits.tool import Toolkit

CONTINUE: Final = "SendMessageToWorker(worker=…, message=…)"

TOOLKIT: Final = Toolkit(
    name="coordinator",
    about="divide work among workers, and continue or start them",
    instructions=COORDINATOR,
    tools=(SPAWN_WORKER, SEND_MESSAGE_TO_WORKER, LIST_WORKERS, STOP_WORKER, READ_MESSAGE),
    ways=Instructions(
        more="they come at your next turn",
        rest=REST,
        answer=CONTINUE,
        decide="tell its sender with SendMessageToWorker",
        task="",
        worker=CONTINUE,
    ),
)
