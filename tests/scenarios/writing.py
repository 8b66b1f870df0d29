"""Many messages between two members, of all sizes, some of which are handled at once."""

import asyncio
from collections.abc import Iterator

from covey.surfaces.python.member import Member

MESSAGES = 500
AT_ONCE = 25
HANDLED = 10
"""One in so many messages is handled at once."""


async def write_five_hundred(sender: Member, reader: Member) -> None:
    async def write(numbers: Iterator[int]) -> None:
        for number in numbers:
            receipt = await sender.send(reader.name, "x" * number * 40)
            if number % HANDLED == 0:
                await reader.handle(receipt.message_id)

    numbers = iter(range(MESSAGES))
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(write(numbers))
