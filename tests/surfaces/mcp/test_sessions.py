"""One session for each client, with real clients and servers that are killed.

No mail is lost; no dead session stays.
"""

import re
from datetime import datetime

import pytest

from covey.adapters.doorbell.ringer import RingOnly
from covey.adapters.sqlite.search.search import SqliteSearch
from covey.adapters.sqlite.transactions.store import SqliteStore
from covey.adapters.system.blobs import BlobFiles
from covey.adapters.system.clock import SystemClock
from covey.adapters.system.files import RootedFiles, StoreFiles
from covey.adapters.system.ids import SystemIds
from covey.adapters.system.liveness import SystemLiveness
from covey.core.coroutine import finish
from covey.core.limits import PRESENCE_LEASE
from covey.engines.adapters import Adapters
from covey.services.space import Services
from tests.surfaces.commands import Folder
from tests.surfaces.mcp.agent_client import agent_client
from tests.surfaces.mcp.speaking import Speaker


class LaterClock(SystemClock):
    """A clock after the end of every lease."""

    def now(self) -> datetime:
        return super().now() + PRESENCE_LEASE * 1.1


def sessions(folder: Folder) -> dict[str, list[str]]:
    """Return the live sessions of each agent."""
    agents = folder.covey("agents", "--json").json
    return {agent["agent"]: [session["id"] for session in agent["sessions"]] for agent in agents}


def presences_after_the_lease(folder: Folder) -> dict[str, str]:
    """Return the presence of each agent after the end of every lease."""
    path = str(folder.path / ".covey" / "covey.db")
    place = str(folder.path / ".covey")
    store = SqliteStore(path)
    ports = Adapters(
        store,
        RingOnly(path, str(folder.path)),
        BlobFiles(place),
        SqliteSearch(path),
        SystemLiveness(place),
        RootedFiles((), StoreFiles()),
        LaterClock(),
        SystemIds(),
    )
    try:
        return {view.name: str(view.presence) for view in finish(Services(ports).directory.agents())}
    finally:
        finish(ports.close())


@pytest.mark.requirement("mcp.session")
def test_the_server_and_the_hooks_of_a_client_are_one_session_and_two_clients_are_two(folder: Folder) -> None:
    with agent_client(folder) as one, agent_client(folder) as two:
        one.order("start")
        hooked = two.order("hook")
        two.order("start")
        assert one.order("hook") == {"session": sessions(folder)["agentA"][0], "agent": "agentA"}
        assert hooked == {"session": sessions(folder)["agentB"][0], "agent": "agentB"}
        assert {agent: len(live) for agent, live in sessions(folder).items()} == {"agentA": 1, "agentB": 1}
        assert one.order("list_agents").startswith("You are agentA.")
        assert two.order("list_agents").startswith("You are agentB.")


@pytest.mark.requirement("mcp.session")
def test_a_killed_client_leaves_no_live_session_and_its_mail_goes_to_the_next(folder: Folder) -> None:
    with agent_client(folder) as client:
        client.order("start")
        assert sessions(folder)["agentA"]
        client.kill()
        assert sessions(folder) == {"agentA": []}
    folder.covey("send", "--from", "lead", "--to", "agentA", "while you were away")
    with Speaker(folder, "--agent", "agentA") as again:
        assert "while you were away" in again.call("list_agents")


@pytest.mark.requirement("mcp.session")
def test_a_killed_server_leaves_no_live_session_after_its_lease(folder: Folder) -> None:
    with agent_client(folder) as client:
        client.order("start")
        client.order("kill")
        assert sessions(folder)["agentA"], "the client may start it again"
        assert presences_after_the_lease(folder) == {"agentA": "offline"}
        client.order("start")
        assert presences_after_the_lease(folder) == {"agentA": "idle"}


@pytest.mark.requirement("mcp.session", "mcp.mail")
def test_after_two_servers_are_killed_and_restarted_no_message_is_lost_or_shown_twice(folder: Folder) -> None:
    shown: list[str] = []

    def hear(speaker: Speaker) -> None:
        shown.extend(re.findall(r"^  (message \w+)$", speaker.call("list_agents"), re.MULTILINE))

    with Speaker(folder, "--agent", "ann") as ann, Speaker(folder, "--agent", "bob") as bob:
        ann.call("send_message", to="bob", message="message one")
        hear(bob)
        assert shown == ["message one"], "it stands in the next result"
        hear(bob)
        ann.call("send_message", to="bob", message="message two")
        before = sessions(folder)
        ann.kill()
        bob.kill()
    folder.covey("send", "--from", "lead", "--to", "bob", "message three")
    assert {"ann": "offline", "bob": "offline"}.items() <= presences_after_the_lease(folder).items()
    with Speaker(folder, "--agent", "ann") as ann, Speaker(folder, "--agent", "bob") as bob:
        hear(bob)
        ann.call("send_message", to="bob", message="message four")
        hear(bob)
        hear(bob)
        assert sessions(folder) | {"lead": []} == before | {"lead": []}
    assert shown == ["message one", "message two", "message three", "message four"]
