"""The path of a space's local replica on this machine."""

import os
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from covey.adapters.nats.client.settings import parse_nats
from covey.core.store_url import StoreUrl

REPLICA_FILE: Final = "covey.db"


def replica_path(url: StoreUrl, environ: Mapping[str, str]) -> str:
    """Return the replica file: in the folder that the settings name, or in this user's cache folder."""
    settings = parse_nats(url, environ)
    if settings.cache is not None:
        folder = os.path.abspath(os.path.expanduser(settings.cache))
    else:
        home = environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        place = sha256(",".join(sorted(settings.servers)).encode()).hexdigest()[:16]
        folder = os.path.join(home, "covey", f"{settings.space}-{place}")
    return os.path.join(folder, REPLICA_FILE)
