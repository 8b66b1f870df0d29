"""Tokens: creation, listing and revocation; and the permissions of the holder of an agent's token."""

from datetime import timedelta
from typing import TypeVar

import pytest

from covey.core.directory.card import Card
from covey.core.errors import (
    BeyondToken,
    GateClosed,
    IdentityRefused,
    MessageUnknown,
    RecipientUnknown,
    SessionEnded,
    StoreFull,
    TicketUnknown,
    TokenUnknown,
)
from covey.core.identity import Grade, Identity, TokenId
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.event import Action
from covey.core.ledger.ticket import TicketState
from covey.core.names import (
    OPERATOR,
    AgentName,
    Scope,
    SessionId,
    parse_message_id,
    parse_ticket_id,
    session_inbox,
    ticket_id,
)
from covey.ports.ledger import MessageFilter
from covey.ports.store import Operation, Store, Transaction
from covey.services.space import Services
from covey.surfaces.python.member import Member
from tests.scenarios.world import World, read, show, waiting

T = TypeVar("T")

ALICE, BOB, EVE = AgentName("alice"), AgentName("bob"), AgentName("eve")
OWNER = Identity(AgentName("owner"))


class FullStore:
    """A store on a full disk."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.capabilities = store.capabilities
        self.read = store.read
        self.close = store.close

    async def commit(self, operation: Operation[T], *, is_long: bool = False, is_light: bool = False) -> T:
        raise StoreFull("covey.db")


async def token_for(world: World, name: AgentName = EVE) -> str:
    return await world.services.identities.create_token(name, OWNER, register=True)


async def by_token(world: World, name: AgentName = EVE) -> tuple[Services, Identity]:
    """Return the services and the identity that a surface gives to the holder of a token of the agent."""
    identity = await world.services.identities.by_token(await token_for(world, name))
    return world.services.narrowed_to(identity), identity


async def join_by_token(world: World, name: AgentName = EVE) -> Member:
    return await world.process().join(token=await token_for(world, name))


# ------------------------------------------------------------------------------------------------------- storage


@pytest.mark.requirement("identity.grades")
async def test_a_member_that_joined_by_a_token_has_the_token_grade_in_all_its_actions(world: World) -> None:
    eve = await join_by_token(world)
    (bob,) = await world.join("bob")
    assert str(eve.identity) == "eve (token)"
    sent = await eve.send("bob", "hi")
    (found,) = await bob.inbox.peek()
    assert (found.sender, found.sender.session) == (eve.identity, eve.session.id)
    acted = {event.action for event in await world.events() if str(event.actor) == "eve (token)"}
    assert {Action.SESSION_JOINED, Action.MESSAGE_SENT} <= acted
    await bob.reply(sent.message_id, "hello")
    showing = await read(eve)
    assert [item.message.text for item in showing.items] == ["hello"]
    await eve.leave()
    with pytest.raises(SessionEnded):
        await eve.send("bob", "from beyond")


async def test_a_token_is_for_its_own_agent_alone(world: World) -> None:
    token = await token_for(world)
    process = world.process()
    with pytest.raises(BeyondToken, match="join as bob"):
        await process.join("bob", token=token)
    assert (await process.join("eve", token=token)).name == "eve"
    for wrong in ("covey_" + "0" * 64, "secret", "", token + "0"):
        with pytest.raises(IdentityRefused):
            await process.join("eve", token=wrong)


async def test_only_the_hash_is_kept_and_the_journal_has_the_id_and_the_note(world: World) -> None:
    identities = world.services.identities
    token = await identities.create_token(EVE, OWNER, "for the hub", register=True)
    (stored,) = await identities.tokens()
    assert (stored.agent, stored.note, stored.revoked_at, stored.used_at) == (EVE, "for the hub", None, None)
    (created,) = await world.events(Action.TOKEN_CREATED)
    assert (created.actor, created.agent) == (OWNER, EVE)
    assert created.details == {"token": stored.id, "note": "for the hub"}
    assert (await identities.revoke_token(stored.id, OWNER)).token.revoked_at == world.clock.now()
    (revoked,) = await world.events(Action.TOKEN_REVOKED)
    assert revoked.details == {"token": stored.id}
    assert token not in repr(await world.snapshot())


async def test_a_revoked_token_is_refused_as_revoked_and_revoking_it_again_changes_nothing(world: World) -> None:
    identities = world.services.identities
    token = await token_for(world)
    other = await token_for(world)
    first, second = await identities.tokens()
    assert (await identities.revoke_token(first.id, OWNER)).is_new
    before = await world.snapshot()
    again = await identities.revoke_token(first.id, OWNER)
    assert not again.is_new
    assert again.token.revoked_at is not None
    assert await world.snapshot() == before
    with pytest.raises(IdentityRefused, match=f"{first.id} was revoked"):
        await identities.by_token(token)
    assert (await identities.by_token(other)).agent == second.agent


async def test_a_token_that_is_not_there_cannot_be_revoked(world: World) -> None:
    await token_for(world)
    with pytest.raises(TokenUnknown):
        await world.services.identities.revoke_token(TokenId("0" * 12), OWNER)


async def test_a_token_can_only_be_created_for_a_known_agent(world: World) -> None:
    await world.join("bob")
    before = await world.position()
    with pytest.raises(RecipientUnknown, match="did you mean bob"):
        await world.services.identities.create_token(AgentName("bobb"), OWNER)
    assert await world.position() == before
    assert await world.services.identities.tokens() == []


async def test_the_use_of_a_token_is_written_down_once_an_hour_and_not_in_the_journal(world: World) -> None:
    identities = world.services.identities
    token = await token_for(world)
    before = await world.position()

    async def used_at() -> timedelta | None:
        (stored,) = await identities.tokens()
        return None if stored.used_at is None else stored.used_at - stored.created_at

    assert await used_at() is None
    await identities.by_token(token)
    assert await used_at() == timedelta(0)
    world.pass_time(minutes=59)
    await identities.by_token(token)
    assert await used_at() == timedelta(0)
    world.pass_time(minutes=2)
    await identities.by_token(token)
    assert await used_at() == timedelta(minutes=61)
    assert await world.position() == before


async def test_a_token_works_even_if_its_use_cannot_be_recorded(world: World) -> None:
    token = await token_for(world)
    process = world.process(FullStore)
    assert (await process.services.identities.by_token(token)).agent == EVE
    (stored,) = await world.services.identities.tokens()
    assert stored.used_at is None


# ------------------------------------------------------------------------------------------------------- reading


async def test_an_agent_s_token_reads_its_own_inbox_and_no_other(world: World) -> None:
    (alice, bob) = await world.join("alice", "bob")
    services, _ = await by_token(world)
    await alice.send("eve", "for eve")
    await alice.send("bob", "for bob")
    assert [item.message.text for item in await services.inbox.peek(EVE)] == ["for eve"]
    assert [item.message.text for item in await services.dialogue.unarchived(EVE)] == ["for eve"]
    for refused in (
        services.inbox.peek(BOB),
        services.inbox.peek_inbox(bob.session.inbox),
        services.inbox.peek_inbox(session_inbox(alice.session.id)),
        services.dialogue.unarchived(BOB),
        services.dialogue.owed_by(BOB),
        services.dialogue.owed_to(ALICE),
    ):
        with pytest.raises(BeyondToken):
            await refused


async def test_a_name_that_does_not_exist_is_unknown_and_not_forbidden(world: World) -> None:
    (alice,) = await world.join("alice")
    services, _ = await by_token(world)
    for look in (services.inbox.peek, services.directory.agent):
        with pytest.raises(RecipientUnknown, match="did you mean alice"):
            await look(AgentName("alise"))
    early = SessionId("b745006e-89e8-4bc5-807f-9da2869a073b")
    await alice.send(early, "for whoever comes", await_session=True)
    assert await services.inbox.peek_inbox(session_inbox(early)) == []


async def test_a_message_of_others_cannot_be_distinguished_from_one_that_never_existed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    services, eve = await by_token(world)
    secret = (await alice.send("bob", "the plan", kind="request", scope="s", subject="plan")).message_id
    never = parse_message_id("1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b")
    for message_id in (secret, never):
        for refused in (
            services.mail.message(message_id),
            services.mail.receipt(message_id),
            services.dialogue.thread(message_id),
            services.history.ledger(message_id),
        ):
            with pytest.raises(MessageUnknown):
                await refused
    with pytest.raises(TicketUnknown):
        await services.dialogue.ticket(ticket_id(secret, BOB))
    with pytest.raises(TicketUnknown):
        await services.asks.resume(ticket_id(secret, BOB), eve, 0)
    member = await join_by_token(world)
    with pytest.raises(MessageUnknown):
        await member.reply(secret, "I know")
    with pytest.raises(MessageUnknown):
        await member.send("alice", "look", relaying=secret)
    for settle in (member.handle, member.dismiss, member.archive, member.withdraw):
        for message_id in (secret, never):
            with pytest.raises(MessageUnknown):
                await settle(message_id)
    assert await services.history.search("plan") == []
    assert await services.dialogue.find(MessageFilter(scope=Scope("s"))) == []
    assert await waiting(bob) == ["the plan"]


async def test_a_holder_sees_only_the_messages_of_a_thread_that_its_agent_sent_or_got(world: World) -> None:
    alice, _bob, carol = await world.join("alice", "bob", "carol")
    services, _ = await by_token(world, BOB)
    asked = await alice.send(["bob", "carol"], "well?", kind="request")
    answer = await carol.reply(asked.message_id, "between carol and alice")
    assert [m.text for m in await services.dialogue.thread(asked.message_id)] == ["well?"]
    with pytest.raises(MessageUnknown):
        await services.dialogue.thread(answer.message_id)


async def test_the_sender_sees_every_copy_and_a_recipient_its_own(world: World) -> None:
    alice = await join_by_token(world, ALICE)
    bob = await join_by_token(world, BOB)
    (carol,) = await world.join("carol")
    asked = await alice.send(["bob", "carol"], "well?", kind="request", scope="s")
    await carol.dismiss(asked.message_id)
    assert [d.agent for d in (await alice.receipt(asked.message_id)).deliveries] == ["bob", "carol"]
    assert [d.agent for d in (await bob.receipt(asked.message_id)).deliveries] == ["bob"]
    services, _ = await by_token(world, BOB)
    ledger = await services.history.ledger(asked.message_id)
    assert [ticket.debtor for ticket in ledger.tickets] == ["bob"]
    (sent,) = ledger.events
    assert "carol" not in repr(sent.details)
    receipt = await services.mail.settle(asked.message_id, bob.identity)
    assert [d.agent for d in receipt.deliveries] == ["bob"]


async def test_a_refused_or_withdrawn_message_is_invisible_to_its_recipient(world: World) -> None:
    (alice,) = await world.join("alice")
    eve = await world.process().join("eve", token=await token_for(world), card={"allow_from": ["bob"]})
    services, _ = await by_token(world)
    refused = await alice.send("eve", "let me in")
    assert refused.refused
    (bob,) = await world.join("bob")
    withdrawn = await bob.send("eve", "never mind")
    await bob.withdraw(withdrawn.message_id)
    for receipt in (refused, withdrawn):
        with pytest.raises(MessageUnknown):
            await services.mail.message(receipt.message_id)
    assert await waiting(eve) == []


async def test_a_holder_sees_the_events_of_its_agent_and_of_its_agents_mail(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    eve = await join_by_token(world)
    services, _ = await by_token(world)
    between = await alice.send("bob", "between us")
    mine = await eve.send("bob", "from eve")
    to_me = await alice.send(["eve", "bob"], "to both")
    showing = await show(bob)
    await bob.confirm(showing.offer.id, "witnessed", "a response")
    seen = await services.history.read(0, 10_000)
    assert [e.position for e in seen] == sorted(e.position for e in seen)
    assert between.message_id not in repr(seen)
    about = {(event.action, event.message_id) for event in seen}
    assert {(Action.MESSAGE_SENT, mine.message_id), (Action.DELIVERY_MOVED, mine.message_id)} <= about
    assert (Action.MESSAGE_SENT, to_me.message_id) in about
    assert (Action.DELIVERY_MOVED, to_me.message_id) not in about
    (offered,) = [event for event in seen if event.action is Action.OFFER_MADE]
    (copy,) = (await eve.receipt(mine.message_id)).deliveries
    assert offered.details["deliveries"] == [copy.id]
    assert {str(event.actor) for event in seen} <= {"eve (token)", "alice (session)", "bob (session)", str(OWNER)}
    assert [event.position for event in await services.history.read(0, 2)] == [e.position for e in seen[:2]]
    assert await services.history.read(seen[-1].position) == []


async def test_search_continues_until_it_has_enough_visible_results(world: World) -> None:
    (alice, _bob) = await world.join("alice", "bob")
    services, _ = await by_token(world)
    for n in range(30):
        await alice.send("bob", f"needle {n} for bob")
    own = {(await alice.send("eve", f"needle in a long haystack, {n} for eve")).message_id for n in range(3)}
    assert {found.message.id for found in await services.history.search("needle", 3)} == own
    assert len(await services.history.search("needle", 2)) == 2
    assert {m.id for m in await services.dialogue.find(MessageFilter(), 3)} == own
    assert len(await services.dialogue.find(MessageFilter(sender=ALICE), 100)) == 3


async def test_the_gate_counts_every_debt_and_names_only_subjects_of_the_holders_own(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    services, eve = await by_token(world)
    await alice.send("bob", "?", kind="request", scope="s", subject="their-secret")
    await alice.send("eve", "?", kind="request", scope="s", subject="known-to-eve")
    verdict = await services.dialogue.gate(Scope("s"))
    assert [(t.asker, t.debtor, t.subject) for t in verdict.owed] == [
        ("alice", "bob", None),
        ("alice", "eve", "known-to-eve"),
    ]
    assert not verdict.passed
    with pytest.raises(GateClosed) as caught:
        await services.dialogue.sweep(Scope("s"), eve)
    assert "their-secret" not in f"{caught.value} {caught.value.details}"
    del bob


async def test_presence_is_visible_to_every_holder(world: World) -> None:
    await world.join("alice")
    services, _ = await by_token(world)
    assert [view.name for view in await services.directory.agents()] == ["alice", "eve"]
    assert (await services.directory.agent(ALICE)).sessions
    assert list(await services.directory.names()) == ["alice", "eve"]


# -------------------------------------------------------------------------------------------------------- acting


async def test_acting_for_another_agent_is_refused_and_nothing_is_changed(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    services, _ = await by_token(world)
    asked = await alice.send(["bob", "eve"], "?", kind="request", scope="s")
    before = await world.snapshot()
    operator = Identity(OPERATOR, None, Grade.TOKEN)
    for forged in (operator, bob.identity, Identity(BOB)):
        for refused in (
            services.mail.settle(asked.message_id, forged),
            services.dialogue.force(Scope("s"), forged, "because"),
            services.directory.set_status(Identity(BOB), "away"),
            services.offers.offer(bob.identity, "turn"),
            services.directory.leave(forged, session_id=bob.session.id),
        ):
            with pytest.raises(BeyondToken, match="act as"):
                await refused
    with pytest.raises(BeyondToken):
        services.identities.claim(BOB)
    with pytest.raises(BeyondToken):
        await services.identities.by_secret(bob.session.id, bob.secret)
    assert await world.snapshot() == before


async def test_an_agents_token_cannot_create_list_or_revoke_tokens(world: World) -> None:
    services, eve = await by_token(world)
    (own,) = await world.services.identities.tokens()
    for identities in (services.identities, world.services.identities):
        with pytest.raises(BeyondToken):
            await identities.create_token(OPERATOR, eve)
        with pytest.raises(BeyondToken):
            await identities.create_token(EVE, eve)
        with pytest.raises(BeyondToken):
            await identities.revoke_token(own.id, eve)
    with pytest.raises(BeyondToken):
        await services.identities.create_token(EVE, OWNER)
    with pytest.raises(BeyondToken):
        await services.identities.tokens()
    assert len(await world.services.identities.tokens()) == 1


async def test_an_agents_token_is_refused_services_for_the_whole_space(world: World) -> None:
    services, _ = await by_token(world)
    for name in ("audit", "imports", "policies"):
        with pytest.raises(BeyondToken):
            getattr(services, name)
    for make in (services.exports, services.prune):
        with pytest.raises(BeyondToken):
            make(*[None] * (2 if make == services.prune else 1))  # pyright: ignore[reportArgumentType]  # refused before


async def test_an_agents_token_forces_a_gate_only_over_debts_to_its_agent(world: World) -> None:
    (alice, _bob) = await world.join("alice", "bob")
    services, eve = await by_token(world)
    member = await join_by_token(world)
    mine = await member.send("bob", "?", kind="request", scope="mine")
    await member.send("bob", "?", kind="request", scope="ours")
    theirs = await alice.send("bob", "?", kind="request", scope="ours")
    assert (await services.dialogue.force(Scope("mine"), eve, "enough")).passed
    assert (await world.ticket(mine.message_id, "bob")).state is TicketState.CLOSED
    before = await world.snapshot()
    for refused in (
        services.dialogue.force(Scope("ours"), eve, "enough"),
        services.dialogue.sweep(Scope("ours"), eve, "enough"),
        services.dialogue.waive(parse_ticket_id(f"{theirs.message_id}@bob"), eve),
    ):
        with pytest.raises((BeyondToken, TicketUnknown)):
            await refused
    assert await world.snapshot() == before


async def test_an_agents_token_sweeps_a_scope_only_if_no_mail_of_others_waits_there(world: World) -> None:
    (alice, bob) = await world.join("alice", "bob")
    services, eve = await by_token(world)
    told = await alice.send(["eve", "bob"], "it is done", scope="s")
    with pytest.raises(BeyondToken, match="mail waits for bob"):
        await services.dialogue.sweep(Scope("s"), eve)
    assert (await world.deliveries(told.message_id))[1].state is DeliveryState.QUEUED
    await bob.handle(told.message_id)
    assert (await services.dialogue.sweep(Scope("s"), eve)).messages_swept == 1


async def test_an_agents_token_can_describe_its_agent_on_the_card_but_not_widen_its_permissions(world: World) -> None:
    services, eve = await by_token(world)
    owned = Card(allowed_delegates=("alice",), command=("run-eve",), quota=1)
    await world.services.directory.register(EVE, owned, OWNER)
    said = owned._replace(description="eve", capabilities=("listening",), allow_from=("bob",))
    assert (await services.directory.register(EVE, said, eve)).card == said
    for more in (
        said._replace(allowed_delegates=("*",)),
        said._replace(command=("rm", "-rf", "/")),
        said._replace(workspace="/etc"),
        said._replace(quota=100),
    ):
        with pytest.raises(BeyondToken):
            await services.directory.register(EVE, more, eve)
        with pytest.raises(BeyondToken):
            await world.process().join(token=await token_for(world), card=more)
    with pytest.raises(BeyondToken):
        await services.directory.register(BOB, Card(), eve)
    assert (await world.services.directory.agent(EVE)).card == said


async def test_the_operator_s_token_narrows_nothing(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    operator = await world.operator()
    services = world.services.narrowed_to(operator)
    told = await alice.send("bob", "between us", scope="s")
    assert [item.message.text for item in await services.inbox.peek(BOB)] == ["between us"]
    assert [m.text for m in await services.dialogue.thread(told.message_id)] == ["between us"]
    assert await services.identities.create_token(EVE, operator, register=True)
    assert (await services.dialogue.sweep(Scope("s"), operator)).messages_swept == 1
    await services.policies.close_roster(operator)
    member = await world.process().join("carol", token=await services.identities.create_token(OPERATOR, operator))
    assert str(member.identity) == "carol (session)"
    del bob


async def test_narrowing_twice_never_widens(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    await alice.send("bob", "between us")
    services, _ = await by_token(world)
    for again in (services.narrowed_to(await world.operator()), services.narrowed_to(Identity(BOB, None, Grade.TOKEN))):
        with pytest.raises(BeyondToken):
            await again.inbox.peek(BOB)


def store_of(services: Services) -> Store:
    """Return the store by which every service of a holder reads."""
    return services.inbox._store  # pyright: ignore[reportPrivateUsage]  # stands for a future service


async def test_any_future_service_finds_no_copy_or_debt_of_others(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    services, _ = await by_token(world)
    await alice.send("bob", "?", kind="request", scope="s")
    both = await alice.send(["bob", "eve"], "?", kind="request", scope="s")
    await bob.handle(both.message_id)
    everything = [d for m in await world.services.dialogue.find(MessageFilter()) for d in await world.deliveries(m.id)]

    async def operation(tx: Transaction) -> list[object]:
        return [
            *[await tx.deliveries.get(delivery.id) for delivery in everything],
            *await tx.deliveries.unsettled_in(Scope("s")),
            *await tx.deliveries.handled(BOB, 2),
            *[delivery for d in everything for delivery in await tx.deliveries.of_message(d.message_id)],
            *[ticket for d in everything for ticket in await tx.tickets.of_message(d.message_id)],
            *await tx.tickets.awaiting(ticket_id(both.message_id, BOB)),
        ]

    found = [record for record in await store_of(services).read(operation) if record is not None]
    assert found
    assert "bob" not in repr(found)


async def test_a_read_by_a_token_cannot_write_or_scan_records_of_others(world: World) -> None:
    services, _ = await by_token(world)
    store = store_of(services)

    async def sweep(tx: Transaction) -> None:
        await tx.messages.sweep(Scope("s"))

    with pytest.raises(RuntimeError, match="a read can't write"):
        await store.read(sweep)

    async def through_inboxes(tx: Transaction) -> None:
        await tx.inboxes.occupied()

    async def through_debts(tx: Transaction) -> None:
        await tx.tickets.debtors()

    async def through_scopes(tx: Transaction) -> None:
        await tx.retention.scopes("", 10)

    async def through_offers(tx: Transaction) -> None:
        await tx.offers.live_of(SessionId(""))

    for look in (through_inboxes, through_debts, through_scopes, through_offers):
        with pytest.raises(BeyondToken):
            await store.read(look)
