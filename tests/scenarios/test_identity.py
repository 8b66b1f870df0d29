"""Identity: the actor of an operation, and the grade of its proof."""

import pytest

from covey.core.errors import BeyondToken, IdentityRefused, SessionEnded
from covey.core.identity import Grade, Identity, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind, TextPart
from covey.core.names import OPERATOR, SPACE, AgentName
from covey.services.mail.recipients import SendPolicy
from tests.scenarios.world import World

pytestmark = pytest.mark.requirement("identity.grades")


async def tell_bob(world: World, who: Identity) -> None:
    draft = Draft(Kind.NOTIFY, (parse_address("bob"),), (TextPart("hi"),))
    await world.services.mail.send(draft, who, SendPolicy())


async def test_the_grade_is_stored_journalled_and_rendered(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    identities = world.services.identities
    claimed = identities.claim(AgentName("cli"))
    by_token = await identities.by_token(await identities.create_token(AgentName("hub"), claimed, register=True))
    operator = await world.operator()
    for who in (alice.identity, claimed, by_token, operator):
        await tell_bob(world, who)
    found = [(str(d.sender), d.sender) for d in await bob.inbox.peek()]
    assert found == [
        ("alice (session)", alice.identity),
        ("cli (claimed)", claimed),
        ("hub (token)", by_token),
        ("operator (token)", operator),
    ]
    sent = [event.actor for event in await world.events(Action.MESSAGE_SENT)]
    assert sent == [alice.identity, claimed, by_token, operator]
    assert [actor.grade for actor in sent] == [Grade.SESSION, Grade.CLAIMED, Grade.TOKEN, Grade.TOKEN]


async def test_every_event_has_an_actor_with_a_grade(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    asked = await alice.send("bob", "shall I?", kind="request", scope="build")
    showing = await bob.offer("turn")
    assert showing is not None
    await bob.confirm(showing.offer.id, "witnessed", "…")
    await bob.reply(asked.message_id, "yes")
    await bob.archive(asked.message_id)
    await alice.sweep("build")
    await bob.leave()
    actors = {(event.action, str(event.actor)) for event in await world.events()}
    assert {who for _, who in actors} == {"alice (session)", "bob (session)"}
    assert (Action.DELIVERY_ARCHIVED, "bob (session)") in actors
    assert (Action.MESSAGE_SWEPT, "alice (session)") in actors


async def test_only_a_token_proves_the_operator(world: World) -> None:
    identities = world.services.identities
    assert (await world.operator()).is_operator
    for name in (OPERATOR, SPACE):
        with pytest.raises(IdentityRefused):
            identities.claim(name)
        with pytest.raises(IdentityRefused):
            await world.process().join(name)
    with pytest.raises(IdentityRefused):
        await identities.create_token(SPACE, identities.claim(AgentName("owner")))
    for grade in (Grade.CLAIMED, Grade.SESSION, Grade.SPACE):
        assert not Identity(OPERATOR, None, grade).is_operator


async def test_a_name_that_is_refused_changes_nothing(world: World) -> None:
    before = await world.position()
    with pytest.raises(IdentityRefused) as caught:
        await world.process().join("operator")
    assert caught.value.code == "identity-refused"
    assert await world.position() == before


async def test_a_token_that_is_unknown_or_revoked_is_refused(world: World) -> None:
    identities = world.services.identities
    owner = identities.claim(AgentName("owner"))
    token = await identities.create_token(AgentName("hub"), owner, "for the hub", register=True)
    (stored,) = await identities.tokens()
    assert token not in repr(stored)  # only its hash is stored
    with pytest.raises(IdentityRefused):
        await identities.by_token(token + "x")
    assert (await identities.revoke_token(stored.id, owner)).is_new
    with pytest.raises(IdentityRefused):
        await identities.by_token(token)
    assert not any(token in str(event.details) for event in await world.events())


async def test_a_session_s_secret_gives_its_identity_to_another_process(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    identities = world.services.identities
    assert await identities.by_secret(alice.session.id, alice.secret) == alice.identity
    with pytest.raises(IdentityRefused):
        await identities.by_secret(alice.session.id, bob.secret)
    with pytest.raises(IdentityRefused):
        await identities.by_secret(bob.session.id, alice.secret)
    await alice.leave()
    with pytest.raises(SessionEnded):
        await identities.by_secret(alice.session.id, alice.secret)


async def test_a_session_that_has_ended_sends_nothing(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    await alice.leave()
    before = await world.position()
    with pytest.raises(SessionEnded):
        await alice.send("bob", "from beyond")
    assert await world.position() == before


async def test_the_sender_is_set_by_the_space_and_not_by_the_caller(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await alice.send("bob", "hi", metadata={"from": "operator", "sender": "operator"})
    (found,) = await bob.inbox.peek()
    assert found.sender == alice.identity


async def test_an_agents_token_cannot_create_tokens(world: World) -> None:
    identities = world.services.identities
    token = await identities.create_token(AgentName("hub"), identities.claim(AgentName("owner")), register=True)
    with pytest.raises(BeyondToken):
        await identities.create_token(OPERATOR, await identities.by_token(token))
