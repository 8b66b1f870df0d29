"""The NATS client, and the behaviour that the adapter relies on."""

from pathlib import Path

from covey.adapters.nats.client.requests import subscribed
from covey.adapters.nats.client.steady import SteadyClient
from tests.nats.relay import relay
from tests.nats.servers import one_node


async def test_after_a_flush_the_server_has_the_subscription(tmp_path: Path) -> None:
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
