"""Random stories, run step by step in a space in memory and in one in SQLite."""

import os
import random
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS
from hypothesis.stateful import rule, run_state_machine_as_test

from tests.properties.channel_moves import ChannelMoves
from tests.properties.dialogue_moves import DialogueMoves
from tests.properties.directory_moves import DirectoryMoves
from tests.properties.mail_moves import MailMoves
from tests.properties.moves import Step, steps_of
from tests.properties.offer_moves import OfferMoves
from tests.properties.prune_moves import PruneMoves
from tests.properties.run_moves import RunMoves
from tests.properties.task_moves import TaskMoves
from tests.properties.twins import NotPossible, Twins

# Hypothesis repeats most of its examples with small changes. This provider makes every story new, which finds more
# here.
AVAILABLE_PROVIDERS["always-new"] = "hypothesis.internal.conjecture.providers.HypothesisProvider"

EXAMPLES = int(os.environ.get("COVEY_STORIES", "60"))
STEPS = int(os.environ.get("COVEY_STORY_STEPS", "50"))
# Shrinking a failed story takes minutes. COVEY_SHRINK=1 with its seed enables it.
PHASES = (Phase.generate, Phase.shrink) if os.environ.get("COVEY_SHRINK") else (Phase.generate,)
SEED = int(os.environ.get("COVEY_SEED") or random.randrange(2**32))


class Moves(MailMoves, OfferMoves, DialogueMoves, DirectoryMoves, TaskMoves, ChannelMoves, RunMoves, PruneMoves):
    """All moves together."""


class TwinSpaces(Moves):
    @rule(step=steps_of(Moves))
    def go_on(self, step: Step) -> None:
        with suppress(NotPossible):
            getattr(self, step.move)(**step.arguments)


class WorkMoves(TaskMoves, ChannelMoves, OfferMoves, DirectoryMoves, PruneMoves):
    """Mostly delegated work."""


class TwinsAtWork(WorkMoves):
    @rule(step=steps_of(WorkMoves))
    def go_on(self, step: Step) -> None:
        with suppress(NotPossible):
            getattr(self, step.move)(**step.arguments)


class FamilyMoves(RunMoves, MailMoves, OfferMoves, DirectoryMoves, PruneMoves):
    """Mostly children, and the messages to and from them."""


class TwinFamilies(FamilyMoves):
    @rule(step=steps_of(FamilyMoves))
    def go_on(self, step: Step) -> None:
        with suppress(NotPossible):
            getattr(self, step.move)(**step.arguments)


@pytest.mark.timeout(60 + EXAMPLES * STEPS // 10)
@pytest.mark.requirement("ledger.states")
def test_memory_and_sqlite_answer_alike_and_the_ledger_holds_after_each_step() -> None:
    tell(TwinSpaces, EXAMPLES)


@pytest.mark.timeout(60 + EXAMPLES * STEPS // 10)
def test_each_move_of_a_task_is_reported_once_and_no_quota_is_exceeded_in_any_story() -> None:
    tell(TwinsAtWork, EXAMPLES // 3)


@pytest.mark.timeout(60 + EXAMPLES * STEPS // 10)
def test_each_child_ends_once_and_with_its_session_whatever_happens() -> None:
    tell(TwinFamilies, EXAMPLES // 3)


def tell(story: type[Twins], examples: int) -> None:
    """Run that many stories."""
    print(f"COVEY_SEED={SEED} repeats these stories")
    run_state_machine_as_test(
        seed(SEED)(story),
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            backend="always-new",
            database=None,
            phases=PHASES,
            suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
        ),
    )
