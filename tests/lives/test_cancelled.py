"""Lives that are cancelled at each suspension: no resource stays behind, and no mail or task is lost."""

import asyncio
from pathlib import Path

import pytest

import covey
from covey.adapters.system.clock import SystemClock
from covey.adapters.system.ids import SystemIds
from covey.core.names import MessageId
from covey.runtime import cancellation as finishing
from tests.lives.cancelling import When, cancel_everywhere
from tests.lives.scenes import (
    LEAD,
    LIMIT_S,
    SCENES,
    WORKER,
    Resources,
    Scene,
    only_offer,
    only_take,
    only_take_judged,
    take_a_turn,
    work,
    world,
)


async def cancelled_lives(url: str, database: Path, scene: Scene, when: When) -> int:
    """Cancel a whole life, from opening the space to closing it, at each suspension. Return their number."""

    async def life() -> None:
        await around.prepare()
        async with covey.open(url) as space:
            await scene(await space.join(WORKER))

    async def check(where: str) -> None:
        within.check(where, open_elsewhere=str(database))
        await around.check()

    outside = Resources()
    async with world(url) as around:
        await life()
        await around.check()
        within = Resources()
        places = await cancel_everywhere(life, check, when)
    outside.check("after all")
    return places


@pytest.mark.requirement("trust.cancel")
@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("name", SCENES)
async def test_a_life_on_sqlite_that_is_cancelled_anywhere_leaves_nothing_and_loses_nothing(
    name: str, when: When, tmp_path: Path
) -> None:
    database = tmp_path / "covey.db"
    assert await cancelled_lives(f"sqlite:///{database}", database, SCENES[name], when) > 0


@pytest.mark.requirement("trust.cancel")
@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("name", ["read_and_write", "take_a_turn", "work"])
@pytest.mark.parametrize("layout", ["dialogue", "mailbox"])
async def test_a_life_in_a_shared_folder_that_is_cancelled_anywhere_leaves_nothing_and_loses_nothing(
    layout: str, name: str, when: When, tmp_path: Path
) -> None:
    url = f"files:{tmp_path}/shared?layout={layout}"
    assert await cancelled_lives(url, tmp_path / "shared/.covey/covey.db", SCENES[name], when) > 0


@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("name", SCENES)
async def test_a_session_in_memory_that_is_cancelled_anywhere_loses_nothing(name: str, when: When) -> None:
    """A space in memory lives as long as its object, so the test cancels a session in it."""

    async def session() -> None:
        await around.prepare()
        me = await around.space.join(WORKER)
        try:
            await SCENES[name](me)
        finally:
            await asyncio.shield(me.leave())

    async def check(_: str) -> None:
        await around.check()

    async with world("memory:") as around:
        await cancel_everywhere(session, check, when)


@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("scene", [take_a_turn, only_offer, only_take, only_take_judged, work])
@pytest.mark.parametrize("store", ["memory:", "sqlite:///{}/covey.db"])
async def test_mail_and_tasks_of_a_cancelled_call_are_available_to_the_same_session(
    store: str, scene: Scene, when: When, tmp_path: Path
) -> None:
    async with world(store.format(tmp_path)) as around:
        me = await around.space.join(WORKER)
        is_cancelled = True

        async def life() -> None:
            nonlocal is_cancelled
            is_cancelled = True
            # these scenes show tasks to the model
            await around.prepare(with_task=scene not in (take_a_turn, only_offer))
            await scene(me)
            is_cancelled = False

        async def check(_: str) -> None:
            if is_cancelled:
                await around.check_again(me)

        assert await cancel_everywhere(life, check, when) > 0


def new_id() -> MessageId:
    return SystemIds().message_id(SystemClock().now())


@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("store", ["memory:", "sqlite:///{}/covey.db", "files:{}?layout=mailbox"])
async def test_an_ask_that_is_cancelled_repeatedly_leaves_its_answer_in_the_inbox(
    store: str, when: When, tmp_path: Path
) -> None:
    async with world(store.format(tmp_path)) as around:
        me = await around.space.join(WORKER)
        question = new_id()
        is_cancelled = True

        async def life() -> None:
            nonlocal is_cancelled, question
            is_cancelled = True
            question = new_id()
            await me.ask(LEAD, "shall I?", timeout=LIMIT_S, id=question)
            is_cancelled = False

        async def check(place: str) -> None:
            if is_cancelled:
                await around.check_no_waits(place)
                await around.check_answered(me, question)

        assert await cancel_everywhere(life, check, when, again=True) > 0


@pytest.mark.parametrize("patience_s", [0.0, 10.0])
async def test_a_life_that_is_cancelled_twice_leaves_nothing_and_loses_nothing(
    patience_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second cancellation does not wait for the clean-up, which still completes."""
    monkeypatch.setattr(finishing, "PATIENCE_S", patience_s)
    url = f"sqlite:///{tmp_path}/covey.db"
    outside = Resources()
    async with world(url) as around:
        for steps in range(40):

            async def life() -> None:
                async with covey.open(url) as space:
                    await take_a_turn(await space.join(WORKER))

            await around.prepare()
            task = asyncio.create_task(life())
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task}, timeout=LIMIT_S)
            await around.check()
    outside.check("after all")
