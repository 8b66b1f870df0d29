"""Operations of tests on a simulated machine."""

from covey.adapters.memory import MemoryLiveness


def test_a_killed_process_stays_dead_and_its_name_is_never_reused() -> None:
    mine = MemoryLiveness()
    dead = mine.hold()
    mine.kill(dead)
    others = [mine.another().hold() for _ in range(3)]
    assert not mine.is_held(dead)
    assert dead not in others
    assert len(set(others)) == 3


def test_machines_know_nothing_of_each_other() -> None:
    one, other = MemoryLiveness(), MemoryLiveness()
    other.start(pid=1)
    assert one.process(1) is None
