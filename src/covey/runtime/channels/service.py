"""The service of channels: pumps and a listener in one process, until they are cancelled."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import NamedTuple, cast

from covey.core.channels.channel import ChannelConfig
from covey.core.errors import ChannelUnknown, Invalid
from covey.core.http import HttpAddress
from covey.core.names import AgentName
from covey.ports.channels import Channel
from covey.runtime.channels.http_listener import HttpListener
from covey.runtime.channels.pump import Note, Pump, Tell
from covey.services.channels.channels import PersonMessage
from covey.services.space import Services

Carrier = Callable[[ChannelConfig], Channel]


class ChannelCallbacks(NamedTuple):
    """Callbacks for the events of running channels."""

    posted: Tell
    heard: Callable[[PersonMessage], None]
    note: Note
    ready: Callable[[Sequence[AgentName], HttpAddress | None], None]
    """Gets the names of the running channels, and the address of the listener."""


async def run_channels(
    services: Services,
    names: Sequence[AgentName],
    carrier: Carrier,
    told: ChannelCallbacks,
    *,
    once: bool = False,
    address: HttpAddress | None = None,
) -> None:
    """Deliver the due posts of the named channels, or of all: `once`, or without end. With an address, also listen."""
    configs = await _configs(services, names)
    pumps = [Pump(services, config.name, carrier(config), told.posted, told.note) for config in configs]
    if address is not None and len(configs) != 1:
        raise Invalid("--listen", str(address), "name exactly one channel to listen for")
    if once:
        await _all([pump.drain for pump in pumps])
        return
    if address is None:
        told.ready([config.name for config in configs], None)
        await _all([pump.run for pump in pumps])
        return
    async with HttpListener(services, configs[0], told.heard).listening(address) as heard_at:
        told.ready([configs[0].name], heard_at)
        await _all([pump.run for pump in pumps])


async def _configs(services: Services, names: Sequence[AgentName]) -> Sequence[ChannelConfig]:
    if names:
        configs = [await services.channels.config(name) for name in dict.fromkeys(names)]
    else:
        views = await services.channels.all()
        usable = [view.name for view in views if view.config is not None and view.config.is_complete]
        configs = [await services.channels.config(name) for name in usable]
    if not configs:
        raise ChannelUnknown("at all")
    for config in configs:
        if not config.is_complete:
            raise Invalid("channel", config.name, "its URL is not known in this space: add it again")
    return configs


async def _all(works: Sequence[Callable[[], Coroutine[None, None, None]]]) -> None:
    """Run all of them concurrently. The first error ends all, and is raised without its group."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work())
    except BaseExceptionGroup as errors:
        raise _first(errors) from None


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
