"""One session for each agent client: its MCP server and its hooks share the session, and no other client does."""

from covey.core.directory.card import Presence
from covey.core.directory.session import Ancestor, SessionKind
from covey.core.ledger.offer import Presentation
from covey.core.names import AgentName, Label
from covey.services.directory.clients import Clients, ClientSession
from covey.services.directory.directory import JoinRequest
from tests.scenarios.world import World

CODER = JoinRequest(AgentName("coder"))
ANYONE = JoinRequest()


def clients(world: World, *ancestors: Ancestor) -> Clients:
    """Return the clients service of a new program with these ancestors."""
    return world.process_of(*ancestors).services.clients


async def presence(world: World, seated: ClientSession) -> Presence:
    return (await world.services.directory.agent(seated.identity.agent)).presence


def kill_server(world: World, seated: ClientSession) -> None:
    """Kill the process that serves a session, but not its client."""
    server = seated.session.holder.server
    assert server is not None
    world.liveness.kill(server)


async def test_a_hook_finds_the_session_of_the_server_and_a_server_that_of_the_hook(world: World) -> None:
    client, shell = world.program(100), world.program(101, "sh")
    served = await clients(world, client).serve(CODER)
    hooked = await clients(world, shell, client).hook(ANYONE)
    assert hooked.identity == served.identity
    other, launcher = world.program(200), world.program(201, "uvx")
    hooked = await clients(world, world.program(202, "bash"), other).hook(ANYONE)
    served = await clients(world, launcher, other).serve(ANYONE)
    assert hooked.identity == served.identity
    assert not served.is_own


async def test_two_clients_are_two_sessions_and_so_are_two_servers_of_one_client(world: World) -> None:
    one, two = world.program(100), world.program(200)
    seats = [await clients(world, client).serve(ANYONE) for client in (one, one, two)]
    assert [seated.identity.agent for seated in seats] == ["agentA", "agentB", "agentC"]
    hooked = await clients(world, one).hook(ANYONE)
    assert hooked.identity == seats[0].identity  # the oldest one
    hooked = await clients(world, one).hook(JoinRequest(AgentName("agentB")))
    assert hooked.identity == seats[1].identity


async def test_a_client_within_a_client_has_its_own_session(world: World) -> None:
    outer, shell, inner = world.program(100), world.program(101, "bash"), world.program(102)
    first = await clients(world, outer).serve(ANYONE)
    second = await clients(world, inner, shell, outer).serve(ANYONE)
    assert first.session.id != second.session.id


async def test_another_agent_of_the_same_client_is_another_session(world: World) -> None:
    client = world.program(100)
    served = await clients(world, client).serve(CODER)
    kill_server(world, served)
    critic = await clients(world, client).serve(JoinRequest(AgentName("critic")))
    assert critic.identity.agent == "critic"
    again = await clients(world, client).serve(CODER)
    assert again.identity == served.identity


async def test_a_server_that_was_killed_finds_its_session_again_within_the_lease(world: World) -> None:
    client = world.program(100)
    served = await clients(world, client).serve(CODER)
    kill_server(world, served)
    world.pass_time(seconds=59)
    await world.tend()
    assert await presence(world, served) is Presence.IDLE
    again = await clients(world, client).serve(CODER)
    assert (again.identity, again.is_own) == (served.identity, True)
    kill_server(world, again)
    world.pass_time(seconds=61)
    assert await presence(world, again) is Presence.OFFLINE
    await world.tend()
    anew = await clients(world, client).serve(CODER)
    assert anew.session.id != served.session.id


async def test_no_session_outlives_its_client(world: World) -> None:
    client = world.program(100)
    served = await clients(world, client).serve(CODER)
    assert await presence(world, served) is Presence.IDLE
    world.liveness.kill(client.holder)
    assert await presence(world, served) is Presence.OFFLINE
    reborn = Ancestor(world.liveness.start(100, "later"), "client")
    again = await clients(world, reborn).serve(CODER)
    assert again.session.id != served.session.id


async def test_a_session_with_a_live_server_needs_no_heartbeat(world: World) -> None:
    served = await clients(world, world.program(100)).serve(CODER)
    world.pass_time(minutes=600)
    await world.tend()
    assert await presence(world, served) is Presence.IDLE


async def test_a_server_that_ends_ends_its_session_unless_hooks_use_it(world: World) -> None:
    client = world.program(100)
    server = clients(world, client)
    served = await server.serve(CODER)
    await server.release(served)
    assert await presence(world, served) is Presence.OFFLINE
    served = await server.serve(CODER)
    hooked = await clients(world, client).hook(CODER)
    await server.release(served)
    assert await presence(world, served) is Presence.IDLE
    world.pass_time(minutes=600)
    assert await presence(world, served) is Presence.IDLE
    assert (await world.services.directory.session(hooked.session.id)).holder.lock is None
    again = await clients(world, client).serve(CODER)
    assert again.identity == served.identity
    world.liveness.kill(client.holder)
    assert await presence(world, served) is Presence.OFFLINE


async def test_the_server_shows_mail_only_if_there_are_no_hooks(world: World) -> None:
    (lead,) = await world.join("lead")
    client = world.program(100)
    server = clients(world, client)
    served = await server.serve(CODER)
    assert not await server.lacks_mail(served.identity, Presentation.ONCE)
    await lead.send("coder", "hello")
    assert await server.lacks_mail(served.identity, Presentation.ONCE)
    await clients(world, client).hook(CODER)
    assert not await server.lacks_mail(served.identity, Presentation.ONCE)


async def test_an_inherited_session_is_used_and_left_as_it_was(world: World) -> None:
    shell, client = world.program(100, "bash"), world.program(101)
    joined = await world.services.directory.join(CODER._replace(kind=SessionKind.CLIENT, client_pid=100))
    server = clients(world, client, shell)
    served = await server.serve(ANYONE, joined.identity)
    assert served.identity == joined.identity
    assert not served.is_own
    other = await clients(world, world.program(102), shell).serve(ANYONE, joined.identity)
    assert other.session.id != joined.session.id  # another server already acts for that session
    await server.release(served)
    assert await world.services.directory.session(joined.session.id) == joined.session._replace(
        seen_at=world.clock.now()
    )


async def test_an_inherited_session_that_has_ended_is_replaced_by_a_new_one(world: World) -> None:
    joined = await world.services.directory.join(CODER._replace(kind=SessionKind.LEASED))
    server = clients(world, world.program(100))
    assert (await server.serve(CODER, joined.identity)).identity == joined.identity
    await world.services.directory.leave(joined.identity)
    after = await server.serve(CODER, joined.identity)
    assert (after.session.id != joined.session.id, after.is_own) == (True, True)


async def test_a_remote_client_has_a_session_while_it_is_active_and_its_server_is_alive(world: World) -> None:
    wish = CODER._replace(label=Label("mcp-1"))
    server = clients(world)
    seated = await server.remote(wish)
    assert (await server.remote(wish)).identity == seated.identity
    assert (await server.remote(wish._replace(label=Label("mcp-2")))).session.id != seated.session.id
    world.pass_time(seconds=50)
    await server.seen(seated.identity)
    world.pass_time(seconds=50)
    assert await presence(world, seated) is Presence.IDLE
    kill_server(world, seated)
    assert await presence(world, seated) is Presence.OFFLINE
    again = await clients(world).remote(wish)
    assert again.identity == seated.identity
    assert await presence(world, seated) is Presence.IDLE
    world.pass_time(seconds=61)
    assert await presence(world, seated) is Presence.OFFLINE
