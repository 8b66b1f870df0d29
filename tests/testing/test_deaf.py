"""Wake-ups that are always dropped."""

from covey.adapters.memory import MemoryWakeups
from covey.core.names import Topic
from covey.testing import DeafWakeups, closing


async def test_every_ring_is_dropped_and_bells_run_into_their_timeouts() -> None:
    topic = Topic("journal")
    async with closing(DeafWakeups(MemoryWakeups())) as wakeups, wakeups.listen([topic]) as bell:
        wakeups.ring([topic])
        wakeups.ring([topic, Topic("other")])
        assert not await bell.wait(0.01)
        assert wakeups.dropped == 3
