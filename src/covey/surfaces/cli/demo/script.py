"""The script: players, acts and their topics. Only the texts are invented; the states come from the ledger."""

from typing import Final, NamedTuple

LEAD: Final = "lead"
CODER: Final = "coder"
FIXER: Final = "fixer"
CRITIC: Final = "critic"
GUIDE: Final = "guide"
MAKER: Final = "maker"
CHAT: Final = "chat"
"""The channel through which a person talks to the guide; it has no process of its own."""

CAST: Final = {
    LEAD: "assigns tasks and commits them",
    CODER: "a worker",
    FIXER: "another worker",
    CRITIC: "reviews what the workers did",
    GUIDE: "talks to people, and lets others do the work",
    MAKER: "takes tasks and does them",
}
"""Every player, with the description on its card."""

RESOLVED: Final = "M001-S001-T0001"
STALLED: Final = "M001-S001-T0002"
RELEASE: Final = "release-1"
CONVERSATION: Final = "user_123"
QUESTION: Final = "Write me a function that sorts files by time."


class Act(NamedTuple):
    cue: str
    """The cue for the lead."""
    scope: str | None
    title: str


ACTS: Final = (
    Act("resolve", RESOLVED, "A question is answered, and the task is committed"),
    Act("stall", STALLED, "An answer misses the point, and the commit is refused"),
    Act("survive", RELEASE, "Whoever was asked is killed, and the question survives"),
)
HANDOVER: Final = "A person asks, one agent hands the work on, the result comes back"
