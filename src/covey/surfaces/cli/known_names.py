"""Known names: the agents of a space, looked up for a shell that completes words."""

from collections.abc import Sequence

from covey.core.names import AgentName
from covey.core.store_url import Engine
from covey.surfaces.cli.call import Call


def known_names(call: Call) -> Sequence[AgentName]:
    """Return the names of all agents. No store is made where there is none: pressing a key changes nothing."""
    from pathlib import Path

    if call.url.engine is Engine.SQLITE and not Path(call.url.place).expanduser().exists():
        return ()
    return call.run(call.services.directory.names())
