"""The doctor runs while other processes work: work in progress is no finding, and mending removes none of it."""

from contextlib import ExitStack

from covey.core.coroutine import finish
from covey.engines import connect_inline, parse_store_url
from covey.services.space import Services
from tests.adapters.children import child
from tests.chaos.talkative import let_talk
from tests.surfaces.doctor.patient import Patient

WORK = """
import asyncio, sys, threading, covey

ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()

async def main():
    rounds = 0
    while not ended.is_set():
        async with covey.open("sqlite:" + sys.argv[1]) as space:
            me = await space.join(sys.argv[2])
            await asyncio.gather(*(me.send(other, "hello") for other in ("ann", "bob") for _ in range(5)))
            await me.ask("ann", "why?", timeout=0)  # two of ann that wait for each other would be refused
            for delivery in await me.inbox.peek():
                await delivery.handle()
        rounds += 1
        if rounds == 2:
            print("working", flush=True)
    print(rounds, flush=True)

asyncio.run(main())
"""


def test_work_under_way_is_no_finding(patient: Patient) -> None:
    for name in ("ann", "bob"):
        patient.send(to=name)
    ports = connect_inline(parse_store_url(f"sqlite:{patient.store}"), ())
    # The number of messages that the workers send depends on the duration of the doctor's run.
    let_talk(Services(ports))
    finish(ports.close())
    with ExitStack() as stack:
        workers = [stack.enter_context(child(WORK, str(patient.store), name)) for name in ("ann", "bob", "ann")]
        assert [worker.line() for worker in workers] == ["working"] * 3
        for n in range(8):
            assert patient.codes(*(["--quick"] if n % 2 else [])) == []
        assert patient.mend().code == 0
        assert [worker.end() for worker in workers] == [0, 0, 0]
    assert patient.codes() == []
