"""Who plays, in which order, and about what. Only the words are made up; what becomes of them is not."""

from typing import Final, NamedTuple

LEAD: Final = "lead"
CODER: Final = "coder"
FIXER: Final = "fixer"
CRITIC: Final = "critic"

CAST: Final = {
    LEAD: "assigns tasks and commits them",
    CODER: "a worker",
    FIXER: "another worker",
    CRITIC: "reviews what the workers did",
}
"""Every player, with the description on its card."""

RESOLVED: Final = "M001-S001-T0001"
STALLED: Final = "M001-S001-T0002"
RELEASE: Final = "release-1"


class Act(NamedTuple):
    cue: str
    """What the lead is told."""
    scope: str
    title: str


ACTS: Final = (
    Act("resolve", RESOLVED, "A question is answered, and the task is committed"),
    Act("stall", STALLED, "An answer misses the point, and the commit is refused"),
    Act("survive", RELEASE, "Whoever was asked is killed, and the question survives"),
)
