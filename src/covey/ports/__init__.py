"""Ports: Protocols for everything that Covey needs from outside, by role. Their docstrings are the specification, and
covey.testing has the contracts.

Ports are types. A module that a short-lived program loads refers to them through this package, in quotes
("ports.Store"), and so imports neither the ports nor the records in their signatures. Other modules import a port from
its own module.
"""

from covey.core.late import late_names

__getattr__ = late_names(
    __name__,
    {
        "BlobUpkeep": "covey.ports.blobs",
        "Blobs": "covey.ports.blobs",
        "Capabilities": "covey.ports.store",
        "Care": "covey.ports.care",
        "Clock": "covey.ports.clock",
        "Files": "covey.ports.blobs",
        "Folder": "covey.ports.folder",
        "Ids": "covey.ports.clock",
        "Launcher": "covey.ports.launcher",
        "Launching": "covey.ports.children",
        "Liveness": "covey.ports.directory",
        "MessageFilter": "covey.ports.ledger",
        "Operation": "covey.ports.store",
        "Pages": "covey.ports.care",
        "Ports": "covey.ports.space",
        "RunFilter": "covey.ports.work",
        "Search": "covey.ports.ledger",
        "Setback": "covey.ports.folder",
        "SharedArchive": "covey.ports.folder",
        "Store": "covey.ports.store",
        "Survives": "covey.ports.store",
        "TaskFilter": "covey.ports.work",
        "Transaction": "covey.ports.store",
        "Views": "covey.ports.views",
        "Visit": "covey.ports.folder",
        "Wakeups": "covey.ports.clock",
        "Wire": "covey.ports.channels",
    },
)
