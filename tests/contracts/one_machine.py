"""The adapters of one machine, opened by a folder. Worker processes open them in the same way."""

from contextlib import AbstractAsyncContextManager

from covey.adapters.doorbell.wakeups import DoorbellWakeups
from covey.adapters.system.liveness import SystemLiveness
from covey.ports.clock import Wakeups
from covey.testing.factories import closing


def open_doorbell(folder: str) -> AbstractAsyncContextManager[Wakeups]:
    return closing(DoorbellWakeups(f"{folder}/covey.db", f"{folder}/r"))


def open_system_liveness(folder: str) -> SystemLiveness:
    return SystemLiveness(folder)
