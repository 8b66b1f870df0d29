"""Plugins by entry point: `covey.plugins` names functions that are notified of children.

    [project.entry-points."covey.plugins"]
    my-plugin = "my_package:tell"

    def tell(moment: str, run: covey.Run) -> None: ...      # or async def

`moment` is spawned, ended or failed. A plugin that raises or hangs does no harm: the failure is logged, and a
plugin that hangs is not called again.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast

from covey.core.work.run import Run
from covey.ports.children import ChildEvent
from covey.threads import in_a_thread

GROUP: Final = "covey.plugins"
PATIENCE_S: Final = 2.0
"""Time limit of a plugin's call."""

Plugin = Callable[[str, Run], Any]

_log = logging.getLogger("covey")


class EntryPointPlugins:
    """The plugins of all entry points, loaded on first use."""

    def __init__(self, plugins: Mapping[str, Plugin] | None = None) -> None:
        self._found: dict[str, Plugin] | None = None if plugins is None else dict(plugins)

    @property
    def are_there(self) -> bool:
        return bool(self._plugins)

    @property
    def _plugins(self) -> dict[str, Plugin]:
        if self._found is None:
            self._found = _load()
        return self._found

    async def tell(self, moment: ChildEvent, run: Run) -> None:
        if self._plugins:
            await asyncio.gather(*(self._tell(name, plugin, moment, run) for name, plugin in [*self._plugins.items()]))

    async def _tell(self, name: str, plugin: Plugin, moment: ChildEvent, run: Run) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await _called(plugin, moment, run)
        except TimeoutError:
            self._plugins.pop(name, None)
            _log.warning("the plugin %s took longer than %g s for an event: it gets no more events", name, PATIENCE_S)
        except (Exception, SystemExit):  # noqa: BLE001 - third-party code, on which nothing here depends
            _log.exception("the plugin %s failed when it was told that run %s has %s", name, run.id, moment)


async def _called(plugin: Plugin, moment: ChildEvent, run: Run) -> None:
    if inspect.iscoroutinefunction(plugin):
        await cast(Awaitable[object], plugin(str(moment), run))
        return
    # A daemon thread of its own: a plugin that hangs must not keep the process from ending.
    await in_a_thread(lambda: plugin(str(moment), run), "covey-plugin")


def _load() -> dict[str, Plugin]:
    from importlib.metadata import entry_points  # imported here because it takes as long as everything else together

    found: dict[str, Plugin] = {}
    for entry in entry_points(group=GROUP):
        try:
            plugin = entry.load()
        except Exception:  # noqa: BLE001 - as above
            _log.exception("the plugin %s can't be loaded", entry.name)
            continue
        if callable(plugin):
            found[entry.name] = plugin
        else:
            _log.warning("the plugin %s is not callable: %r", entry.name, plugin)
    return found
