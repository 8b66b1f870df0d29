"""Resources: the inbox, the agents and threads, and notifications of their changes."""

import asyncio
import warnings
from collections.abc import Generator

import pytest
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ReadResourceResult,
    ResourceUpdatedNotification,
    TextResourceContents,
)

from covey.core.ledger.delivery import DeliveryState
from covey.surfaces.mcp.resources import MOST
from covey.surfaces.mcp.server import NO_SUCH_RESOURCE
from tests.scenarios.world import soon
from tests.surfaces.mcp.desk import ERAS, Desk, Era


@pytest.fixture(autouse=True)
def older_ways() -> Generator[None]:
    """Allow functions that the SDK deprecates, because clients of 2025 use them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "resources/(un)?subscribe is removed")
        yield


def said(result: ReadResourceResult) -> str:
    (content,) = result.contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "text/plain"
    return content.text


@pytest.mark.parametrize("era", ERAS)
async def test_resources_are_listed_and_read(desk: Desk, era: Era) -> None:
    (lead,) = await desk.world.join("lead")
    async with desk.client("coder", era=era) as coder:
        listed = [resource.uri for resource in (await coder.list_resources()).resources]
        assert listed == ["covey://inbox", "covey://agents"]
        (template,) = (await coder.list_resource_templates()).resource_templates
        assert template.uri_template == "covey://thread/{id}"
        assert said(await coder.read_resource("covey://inbox")) == "No messages wait."
        sent = await lead.send("coder", "Is it done?", kind="request")
        inbox = said(await coder.read_resource("covey://inbox", cache_mode="bypass"))
        assert "#1 request from lead (session)" in inbox
        assert "  Is it done?" in inbox
        assert "- lead" in said(await coder.read_resource("covey://agents"))
        for name in ("1", sent.message_id):
            assert "  Is it done?" in said(await coder.read_resource(f"covey://thread/{name}"))
        copy = await desk.world.delivery(sent.message_id)
    assert (copy.state, copy.grade) == (DeliveryState.QUEUED, None), "looking changes nothing, and proves nothing"


@pytest.mark.parametrize(("era", "code"), [("legacy", NO_SUCH_RESOURCE), ("2026-07-28", INVALID_PARAMS)])
@pytest.mark.parametrize("uri", ["covey://nothing", "covey://thread/99", "covey://thread/x y", "file:///etc/passwd"])
async def test_a_missing_resource_is_reported_as_missing(desk: Desk, era: Era, code: int, uri: str) -> None:
    async with desk.client("coder", era=era) as coder:
        with pytest.raises(MCPError) as caught:
            await coder.read_resource(uri)
    assert caught.value.error.code == code
    assert caught.value.error.data == {"uri": uri}


async def test_a_listening_client_is_notified_of_changes(desk: Desk) -> None:
    (lead,) = await desk.world.join("lead")
    async with desk.client("coder") as coder, desk.client("critic") as critic:
        first = await lead.send("coder", "hello")
        wanted = ["covey://inbox", "covey://agents", f"covey://thread/{first.message_id}"]
        async with (
            coder.listen(resource_subscriptions=wanted) as heard,
            critic.listen(resource_subscriptions=["covey://inbox"]) as others,
        ):
            for uri, change in (
                ("covey://inbox", lead.send("coder", "again")),
                ("covey://agents", desk.world.join("newcomer")),
                (f"covey://thread/{first.message_id}", lead.reply(first.message_id, "and more")),
            ):
                await change
                while True:
                    event = await soon(anext(heard))
                    assert isinstance(event, ResourceUpdated)
                    if event.uri == uri:
                        break
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await anext(others)


async def test_a_client_of_2025_subscribes_and_unsubscribes(desk: Desk) -> None:
    (lead,) = await desk.world.join("lead")
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: IncomingMessage) -> None:
        assert isinstance(message, ResourceUpdatedNotification)
        heard.put_nowait(message.params.uri)

    async with desk.client("coder", era="legacy", hears=hear) as coder:
        for _ in range(2):  # A second subscription has no further effect.
            await coder.subscribe_resource("covey://inbox")  # pyright: ignore[reportDeprecated]  # that is what it tests
        await lead.send("coder", "hello")
        assert await soon(heard.get()) == "covey://inbox"
        await coder.unsubscribe_resource("covey://inbox")  # pyright: ignore[reportDeprecated]
        await coder.subscribe_resource("covey://agents")  # pyright: ignore[reportDeprecated]
        await lead.send("coder", "again")
        await desk.world.join("newcomer")
        assert await soon(heard.get()) == "covey://agents"
        assert heard.empty()


@pytest.mark.parametrize("count", [MOST, MOST + 1])
async def test_the_number_of_resources_that_one_client_watches_is_limited(desk: Desk, count: int) -> None:
    uris = [f"covey://thread/{number}" for number in range(count)]
    async with desk.client("coder") as coder:
        if count <= MOST:
            async with coder.listen(resource_subscriptions=uris) as heard:
                assert heard.honored.resource_subscriptions == uris
        else:
            with pytest.raises(MCPError, match="at most"):
                async with coder.listen(resource_subscriptions=uris):
                    pass
