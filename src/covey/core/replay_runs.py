"""The replay of runs: the states of children, according to the journal."""

from covey.core.details import agree, text
from covey.core.errors import IllegalMove, Invalid
from covey.core.event import Action, Event
from covey.core.run import RUN_MOVES, RunId, RunMove, RunState, Stage


class RunReplay:
    """A fold over the events of runs, oldest first. An event that can't follow the earlier ones raises, and changes
    nothing."""

    def __init__(self) -> None:
        self.runs: dict[RunId, RunState] = {}
        self.steps = {Action.SPAWN_STAGE: self._staged, Action.RUN_MOVED: self._moved}

    def _staged(self, event: Event) -> None:
        """Add the run when its session is made: that is how a run begins."""
        if text(event.details, "stage") != Stage.SESSION:
            return
        run_id = RunId(text(event.details, "run"))
        if run_id in self.runs:
            raise Invalid("run", run_id, "it was spawned before")
        self.runs[run_id] = RunState.STARTING

    def _moved(self, event: Event) -> None:
        run_id = RunId(text(event.details, "run"))
        before, move = self.runs[run_id], RunMove(text(event.details, "move"))
        state = RUN_MOVES[before].get(move)
        if state is None:
            raise IllegalMove("run", before, move)
        agree(event.details, "from", before)
        agree(event.details, "to", state)
        self.runs[run_id] = state
