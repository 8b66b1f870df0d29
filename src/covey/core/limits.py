"""Limits and defaults that hold in every space."""

from datetime import timedelta
from typing import Final

MAX_ENVELOPE_BYTES: Final = 1024 * 1024
"""The size of a message on the wire, all parts inline. Larger content travels as a file part."""

MAX_PAPER_BYTES: Final = 2 * MAX_ENVELOPE_BYTES + 64 * 1024
"""The size of a file in a shared folder. Files of Covey have the text twice: in the layout's fields and in the
envelope."""

MAX_DIALOGUE_BODY_BYTES: Final = 256 * 1024
"""The size of the text of a message that a loop of agents sends. The text may be empty."""

INITIAL_HOPS: Final = 3
"""The number of times that a message may be sent or relayed, including the first send."""

OFFER_LEASE: Final = timedelta(minutes=10)
"""The time for which an offer holds its deliveries without a renewal."""

UNREGISTERED_WAIT: Final = timedelta(minutes=10)
"""The time for which mail waits for a session id that is not registered."""

POST_LEASE: Final = timedelta(minutes=1)
"""The time for which a process holds a post that it carries, unless the process ends first."""

POST_SECONDS: Final = 15.0
"""The timeout for carrying one post. After it, the post is retried."""

PRESENCE_LEASE: Final = timedelta(seconds=60)
"""The time for which a session that is known only by its heartbeat stays live without one."""

RECHECK_SECONDS: Final = 2.0
"""The time after which a waiter without a wake-up reads the store again."""

RUN_PACE: Final = (0.5, 1.0, 2.0, 4.0)
"""The intervals at which a waiter for a child's result reads the store again, in multiples of `RECHECK_SECONDS`: 1, 2,
4, then 8 seconds. They grow, because most children take long."""

DEFAULT_INBOX_CAPACITY: Final = 10_000
"""The number of deliveries that may wait in one inbox by default."""

PEERS_INBOX_CAPACITY: Final = 64
"""The number of deliveries that may wait in an inbox on the peers policy, which evicts the oldest."""

MAX_SUBJECT_CHARS: Final = 128
MAX_FOREIGN_NAME_CHARS: Final = 500
"""The longest scope or subject of a foreign program."""
MAX_PARTS: Final = 256

MAX_NESTING: Final = 64
"""The depth to which data may be nested, so that every reader can parse it."""

MAX_COUNT: Final = 1_000_000
"""The largest round, quota or inbox limit."""

MAX_LEASE: Final = timedelta(days=366)
"""The longest lease of a session or an offer."""

MAX_CARD_CHARS: Final = 64 * 1024
"""The number of characters in all texts of a card together."""

ATTENTION_BUDGET: Final = 8_000
"""The number of characters of mail that one turn shows by default: about 2,000 tokens."""

MIN_ATTENTION_BUDGET: Final = 2_500
"""The smallest budget: it has room for the frame, for its notes, and for a good part of any message."""

MAX_SHOWN: Final = 64
"""The largest number of messages in one turn."""

TASK_ATTEMPTS: Final = 3
"""The number of sessions that may take up a task, one after the other, before it fails: the task itself may be the
cause of their ends."""

FLOW_SAMPLE: Final = 13
"""The sampling interval for messages to an agent: one in so many is a sample of its senders. It is a prime, so that no
sender that takes turns with others is missed."""
