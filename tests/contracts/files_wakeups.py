"""The wake-ups of a shared folder, opened by its path. Worker processes open them in the same way."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from covey.core.formats.layout import Layout
from covey.engines import connect, parse_store_url
from covey.ports.clock import Wakeups


@asynccontextmanager
async def _of(root: str, layout: Layout) -> AsyncGenerator[Wakeups]:
    ports = connect(parse_store_url(f"files:{root}?layout={layout}"), ())
    try:
        yield ports.wakeups
    finally:
        await ports.close()


def open_dialogue(root: str) -> AbstractAsyncContextManager[Wakeups]:
    return _of(root, Layout.DIALOGUE)


def open_mailbox(root: str) -> AbstractAsyncContextManager[Wakeups]:
    return _of(root, Layout.MAILBOX)


WAYS = {"dialogue": open_dialogue, "mailbox": open_mailbox}
