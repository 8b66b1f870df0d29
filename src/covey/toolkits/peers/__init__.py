"""The peers toolkit: list the other agents, tell them something, and have something approved by one of them."""

from typing import Final

from covey.core.attention.pending import Instructions
from covey.core.directory.capacity import PEERS_CAPACITY
from covey.core.formats.peers import INBOX_SUBJECT_PREFIX, MAX_BODY_BYTES, MIN_BODY_CHARS
from covey.toolkits.peers.decide_approval import DECIDE_APPROVAL
from covey.toolkits.peers.list_peers import LIST_PEERS
from covey.toolkits.peers.request_approval import REQUEST_APPROVAL
from covey.toolkits.peers.send_to_peer import MAX_PEERS_AT_ONCE, SEND_TO_PEER
from covey.toolkits.read_message import READ_MESSAGE, REST
from covey.toolkits.tool import Toolkit

__all__ = ["INBOX_SUBJECT_PREFIX", "MAX_BODY_BYTES", "MAX_PEERS_AT_ONCE", "MIN_BODY_CHARS", "TOOLKIT"]

TOOLKIT: Final = Toolkit(
    name="peers",
    about="see who is there, tell them something, and have something approved",
    instructions=(
        "You work beside other agents, your peers. They don't see what you write here: send_to_peer is the only way to "
        "reach them. What they send you stands in a block PEER MESSAGES. Answer only if an answer helps. A message "
        "with an approval attribute waits for your decide_approval."
    ),
    tools=(LIST_PEERS, SEND_TO_PEER, REQUEST_APPROVAL, DECIDE_APPROVAL, READ_MESSAGE),
    capacity=PEERS_CAPACITY,
    ways=Instructions(
        more="they come at your next turn",
        rest=REST,
        answer="send_to_peer, to whoever asked, with the same correlation_id",
        decide="decide_approval(request={number}, approve=true or false, reason=…)",
        task="",
    ),
)
