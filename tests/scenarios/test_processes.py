"""Real processes over a real file: started, killed, and replaced."""

import pytest

import covey
from covey.core.directory.card import Presence
from covey.core.identity import parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.outcome import OutcomeKind
from covey.core.names import parse_message_id
from covey.services.mail.recipients import SendPolicy
from tests.scenarios.playing import Start, go, strings, told
from tests.scenarios.world import LIMIT_S, soon, waiting

ASKED = "1767225600000-22222222-0000-4000-8000-000000000000"


@pytest.mark.requirement("mailbox.registry.race")
async def test_fifty_agents_that_register_and_heartbeat_at_once_all_remain(url: str, start: Start) -> None:
    processes = [start("register", str(10 * n), "10") for n in range(5)]
    go(processes)
    assert [told(one) for one in processes] == ["registered"] * 5
    async with covey.open(url) as space:
        views = await space.agents()
        expected = {f"bot-{n}": (f"number {n}", Presence.IDLE) for n in range(50)}
        assert {view.name: (view.card.description, view.presence) for view in views} == expected
        assert await space.services.audit.check() == []


@pytest.mark.requirement("broadcast.names")
async def test_names_that_eight_processes_take_at_once_never_collide(start: Start) -> None:
    processes = [start("nameless", "4") for _ in range(8)]
    go(processes)
    names = [name for one in processes for name in strings(told(one))]
    letters = [*(chr(ord("A") + n) for n in range(26)), "AA", "AB", "AC", "AD", "AE", "AF"]
    assert sorted(names) == sorted(f"agent{letter}" for letter in letters)


@pytest.mark.requirement("dialogue.id", "broadcast.numbers")
async def test_ids_and_numbers_are_unique_under_parallel_writers(url: str, start: Start) -> None:
    async with covey.open(url) as space:
        bob = await space.join("bob")
        processes = [start("send", f"sender-{n}", "50") for n in range(3)]
        go(processes)
        sent = {message_id for one in processes for message_id in strings(told(one))}
        found = await bob.inbox.peek()
        assert len({delivery.id for delivery in found}) == 150
        assert {delivery.id for delivery in found} == sent
        assert sorted(delivery.number for delivery in found) == list(range(1, 151))
        assert all(parse_message_id(delivery.id) == delivery.id for delivery in found)


@pytest.mark.requirement("ask.outcomes")
async def test_an_ask_survives_the_death_of_the_process_that_asked(url: str, start: Start) -> None:
    async with covey.open(url) as space:
        bob = await space.join("bob")
        asker = start("ask", ASKED)
        go([asker])
        delivery = await soon(bob.inbox.next(timeout=LIMIT_S))
        assert delivery is not None
        asker.kill()
        await delivery.reply("yes")
        alice = await space.join("alice")
        assert await waiting(alice) == ["yes"]
        outcome = await alice.resume(f"{ASKED}@bob", timeout=0)
        assert (outcome.kind, outcome.text) == (OutcomeKind.REPLIED, "yes")
        assert await waiting(alice) == []


@pytest.mark.requirement("ask.outcomes")
async def test_an_answer_wakes_an_asker_in_another_process(url: str, start: Start) -> None:
    async with covey.open(url) as space:
        bob = await space.join("bob")
        asker = start("ask", ASKED)
        go([asker])
        delivery = await soon(bob.inbox.next(timeout=LIMIT_S))
        assert delivery is not None
        await delivery.reply("yes")
        assert told(asker) == "replied"


@pytest.mark.requirement("dialogue.archive.twice")
async def test_of_two_archivers_at_once_exactly_one_wins(url: str, start: Start) -> None:
    async with covey.open(url) as space:
        alice, bob = await space.join("alice"), await space.join("bob")
        message = await alice.send("bob", "it is done")
        archivers = [start("archive", bob.session.id, bob.secret, message.message_id) for _ in range(2)]
        go(archivers)
        assert sorted(str(told(one)) for one in archivers) == ["archived", "messages-already-archived"]


@pytest.mark.requirement("ledger.fan-out")
async def test_of_many_claimers_at_once_exactly_one_gets_the_task(url: str, start: Start) -> None:
    async with covey.open(url) as space:
        alice, _bob = await space.join("alice"), await space.join("bob")
        draft = Draft(Kind.TASK, (parse_address("bob"),), (TextPart("write the parser"),))
        await space.services.mail.send(draft, alice.identity, SendPolicy())
        claimers = [start("claim", "bob") for _ in range(4)]
        go(claimers)
        assert sorted(bool(told(one)) for one in claimers) == [False, False, False, True]


@pytest.mark.requirement("ledger.parking")
async def test_of_two_sessions_that_join_at_once_one_adopts_all_parked_mail(url: str, start: Start) -> None:
    async with covey.open(url) as space:
        alice = await space.join("alice")
        expected = [f"message {n}" for n in range(20)]
        for text in expected:
            await alice.send("bob", text, when_unknown="register")
        joining = [start("adopt") for _ in range(2)]
        go(joining)
        found = sorted(strings(told(one)) for one in joining)
        assert found == [[], expected]


@pytest.mark.requirement("mailbox.presence", "mailbox.offline", "ledger.parking")
async def test_a_killed_session_is_offline_at_once_and_its_mail_goes_to_the_next(url: str, start: Start) -> None:
    async with covey.open(url) as space:
        alice = await space.join("alice")
        process = start("stay", "bob")
        go([process])
        session_id = told(process)
        assert (await space.agent("bob")).presence is Presence.IDLE
        await alice.send("bob", "before")
        process.kill()
        assert (await space.agent("bob")).presence is Presence.OFFLINE
        refused = await alice.send("bob", "nobody home", when_offline="refuse")
        assert [d.state for d in refused.deliveries] == [DeliveryState.UNDELIVERABLE]
        await alice.send("bob", "after")
        heir = await space.join("bob")
        assert heir.session.id != session_id
        assert str(heir.session.key) == "agent:bob:main"
        assert await waiting(heir) == ["before", "after"]
        assert await space.services.audit.check() == []
