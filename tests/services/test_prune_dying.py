"""A prune that dies at any point: it leaves a sound space, and the next prune completes it."""

from collections.abc import Sequence

import pytest

from covey.adapters.memory import MemoryStore
from covey.core.names import MessageId
from covey.testing.faults import Death, Died, DyingStore, deaths
from tests.properties.world import World, finish
from tests.services.pruning import DAY, Story


def told() -> tuple[Story, Sequence[MessageId], MessageId]:
    """Return a story with two scopes and a thread that can be pruned, and one open request."""
    story = Story(MemoryStore())
    gone = [story.dialogue("T-1"), story.dialogue("T-1"), story.dialogue("T-2"), story.dialogue(None)]
    kept = story.send("well?", scope="T-3", request=True)
    story.clock.advance(2 * DAY)
    return story, gone, kept


def die(story: Story, death: Death | None) -> DyingStore:
    """Prune on a store that dies."""
    dying = DyingStore(story.world.store, death)
    living, story.services = story.services, World(dying, story.clock).processes[0].services
    try:
        story.prune()
    except Died:
        assert death is not None
    finally:
        story.services = living
    return dying


def all_deaths() -> Sequence[Death]:
    return [*deaths(die(told()[0], None).writes)]


@pytest.mark.requirement("operate.prune")
def test_after_a_death_at_any_point_the_space_is_sound_and_the_next_prune_completes() -> None:
    moments = all_deaths()
    assert len(moments) > 15
    for death in moments:
        story, gone, kept = told()
        die(story, death)
        assert story.audit() == [], death
        assert story.is_there(kept)
        story.prune()
        assert story.audit() == [], death
        assert not any(story.is_there(message_id) for message_id in gone)
        assert story.is_there(kept)
        assert sum(int(str(t.details["messages"])) for t in story.tombstones()) == 2 * len(gone)
        assert finish(story.world.store.read(lambda tx: tx.pruned.count())) == 2 * len(gone)
