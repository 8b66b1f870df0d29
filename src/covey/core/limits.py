"""The numbers that hold in every space."""

from datetime import timedelta
from typing import Final

MAX_ENVELOPE_BYTES: Final = 1024 * 1024
"""A message on the wire, all parts inline; what is larger travels as a file part."""

MAX_PAPER_BYTES: Final = 2 * MAX_ENVELOPE_BYTES + 64 * 1024
"""A file in a folder that people read. One of ours has the text twice: as its readers know it, and in the envelope."""

MAX_DIALOGUE_BODY_BYTES: Final = 256 * 1024
"""The text of a message that a loop of agents sends; it may be empty."""

INITIAL_HOPS: Final = 3
"""How often a message may travel; the first send counts."""

OFFER_LEASE: Final = timedelta(minutes=10)
"""How long an offer holds its deliveries without a sign of life."""

UNREGISTERED_WAIT: Final = timedelta(minutes=10)
"""How long mail waits for a session id that nobody has registered."""

POST_LEASE: Final = timedelta(minutes=1)
"""How long a process has a post that it carries to people, unless it ends first."""

POST_SECONDS: Final = 15.0
"""How long carrying one post may take; a receiver that has not answered by then is tried again."""

PRESENCE_LEASE: Final = timedelta(seconds=60)
"""How long a session that is known by its heartbeat alone stays live without one."""

RECHECK_SECONDS: Final = 2.0
"""How long a waiter that heard nothing sleeps before it looks for itself."""

RUN_PACE: Final = (0.5, 1.0, 2.0, 4.0)
"""The same for who waits for the result of a child, in multiples of it, one after the other: 1, 2, 4, then 8 seconds.
It mostly takes long."""

DEFAULT_INBOX_CAPACITY: Final = 10_000
"""How many deliveries may wait in one inbox unless its owner says otherwise."""

PEERS_INBOX_CAPACITY: Final = 64
"""The same for an inbox on the peers policy, where the oldest gives way."""

MAX_SUBJECT_CHARS: Final = 128
MAX_FOREIGN_NAME_CHARS: Final = 500
"""The longest scope or subject that a program of others made up."""
MAX_PARTS: Final = 256

MAX_NESTING: Final = 64
"""How deep data may be nested, so that whoever can write it can also read it."""

MAX_COUNT: Final = 1_000_000
"""The largest round, quota or inbox limit."""

MAX_LEASE: Final = timedelta(days=366)
"""The longest time for which a session or an offer may hold without a sign of life."""

MAX_CARD_CHARS: Final = 64 * 1024
"""All texts of a card together."""

ATTENTION_BUDGET: Final = 8_000
"""How many characters of mail one turn shows unless the reader says otherwise: some 2,000 tokens."""

MIN_ATTENTION_BUDGET: Final = 2_500
"""Room for the frame, for what it says besides, and for a good part of one message, whatever is in it."""

MAX_SHOWN: Final = 64
"""How many messages one turn shows at most."""

TASK_ATTEMPTS: Final = 3
"""How many sessions may take up a task, one after the other, before it has failed: it may be what ends them."""

FLOW_SAMPLE: Final = 13
"""One of so many messages to an agent is a sample of who writes to it. A prime, so that senders that take turns are all
seen."""
