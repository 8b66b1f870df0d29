"""The client of NATS, and what it is relied upon for."""

from pathlib import Path

from covey.adapters.nats.client.api import subscribed
from covey.adapters.nats.client.steady import SteadyClient
from tests.nats.relay import relay
from tests.nats.servers import one_node


async def test_who_has_flushed_is_known_to_listen(tmp_path: Path) -> None:
    with one_node(tmp_path) as server, relay(server.address) as way:
        client = SteadyClient()
        await client.connect(f"nats://{way.address}")
        try:
            await subscribed(client, "news")
            await client.flush()
            *_, listening, asking = way.sent.splitlines()
            assert (listening.split()[:2], asking) == ([b"SUB", b"news"], b"PING")
        finally:
            await client.close()
