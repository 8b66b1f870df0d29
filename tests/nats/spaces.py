"""Objects on a NATS server, opened by a place and a folder. Worker processes open them in the same way."""

from hashlib import sha256

from covey.adapters.nats.client.link import Link
from covey.adapters.nats.client.settings import NatsSettings, nats_settings
from covey.adapters.nats.leases import LEASE_S, Leases, NatsLiveness
from covey.adapters.system.liveness import SystemLiveness


def settings_of(place: str) -> NatsSettings:
    return nats_settings(place, {"limit": "10"}, {})


def link_to(place: str) -> Link:
    return Link(settings_of(place)).share()


class OpenedLiveness(NatsLiveness):
    """Liveness with a separate link. A folder stands for a machine."""

    def __init__(self, place: str, folder: str, lease_s: str = str(LEASE_S), *, waits: bool = True) -> None:
        self.link = link_to(place)
        machine = sha256(folder.encode()).hexdigest()[:16]
        super().__init__(
            SystemLiveness(folder), Leases(self.link, int(lease_s), waits=waits), machine, self.link.account.principal
        )

    def close(self) -> None:
        super().close()
        self.link.release()


def open_liveness(argument: str) -> OpenedLiveness:
    """Open liveness by `PLACE FOLDER [LEASE_SECONDS]`."""
    return OpenedLiveness(*argument.split(" "))
