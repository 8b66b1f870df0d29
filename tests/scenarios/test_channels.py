"""Channels: mail that is posted to people, messages of people, and the routes back."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from covey.adapters.system.ids import SystemIds
from covey.core.channels.channel import WebhookStyle, console, webhook
from covey.core.channels.post import GIVE_UP_AFTER, OWN, OutgoingPost, Post, PostRefusal, PostState
from covey.core.directory.session import Holder
from covey.core.errors import (
    BeyondToken,
    ChannelUnknown,
    ConversationUnbound,
    IdentityRefused,
    IdReused,
    IllegalMove,
    Invalid,
    PostUnknown,
    RecipientUnknown,
)
from covey.core.identity import Identity, parse_address
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action
from covey.core.ledger.marks import Marks
from covey.core.ledger.message import Callback, DataPart, Kind, TextPart
from covey.core.ledger.ticket import TicketState
from covey.core.names import OPERATOR, AgentName, delivery_id, parse_message_id
from covey.ports.store import Transaction
from covey.services.act import Act
from covey.services.channels.channels import PersonMessage
from covey.services.channels.outbox import Outbox
from covey.services.mail.recipients import SendPolicy
from covey.services.tasks.moves import route_result
from tests.scenarios.world import Process, World, waiting

OPS = AgentName("ops")
OWNER = Identity(AgentName("owner"))
BUSY = PostRefusal("503: busy")
SECRET = "a secret of ours"


async def with_channel(world: World) -> None:
    await world.services.channels.add(console(OPS), OWNER, "the people in charge")


async def take(world: World, process: Process | None = None, limit: int = 10) -> Sequence[OutgoingPost]:
    return (await (process or world.observer).services.posts.take(OPS, limit)).taken


async def bodies(world: World) -> list[tuple[str, str]]:
    """Carry all due posts to a receiver that accepts everything. Return the conversation and the text of each."""
    got: list[tuple[str, str]] = []
    while taken := await take(world):
        for outgoing in taken:
            got.append((outgoing.post.conversation, outgoing.message.text))
            await world.services.posts.delivered(outgoing.post.id)
    return got


async def failed_until_given_up(world: World, outgoing: OutgoingPost) -> Post:
    """Let a receiver refuse a post until the post is given up."""
    posts, post = world.services.posts, outgoing.post
    while (post := await posts.refused(post, BUSY)).state is PostState.PENDING:
        world.pass_time(minutes=6 * 60)
        (outgoing,) = await take(world)
        post = outgoing.post
    return post


# ---------------------------------------------------------------------------------------------------------- posts


async def test_mail_to_a_channel_becomes_a_post_and_is_handled_once_it_was_delivered(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    sent = await coder.send("ops", "done")
    ((post, message),) = await take(world)
    assert (post.id, post.conversation, post.attempts) == (delivery_id(sent.message_id, 1), OWN, 1)
    assert message.text == "done"
    assert (await world.delivery(sent.message_id)).state is DeliveryState.QUEUED
    assert (await world.services.posts.delivered(post.id)).state is PostState.DELIVERED
    delivery = await world.delivery(sent.message_id)
    assert (delivery.state, delivery.reason) == (DeliveryState.HANDLED, "posted")
    assert await take(world) == ()


async def test_a_channel_also_accepts_mail_that_refuses_offline_recipients(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    await coder.send("ops", "done", when_offline="refuse")
    assert await bodies(world) == [(OWN, "done")]


async def test_newer_states_of_a_subject_do_not_supersede_posts_to_another_conversation(
    world: World,
) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    for conversation in ("a", "b"):
        await coder.send("ops", "50 %", scope="T-1", subject="progress", callback=("ops", conversation))
    assert await bodies(world) == [("a", "50 %"), ("b", "50 %")]


async def test_posts_of_one_conversation_are_carried_one_after_the_other(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    for n, conversation in enumerate(("a", "a", "b", "a")):
        await coder.send("ops", str(n), callback=("ops", conversation))
    first = await take(world)
    assert [out.message.text for out in first] == ["0", "2"]
    assert await take(world) == ()
    await world.services.posts.refused(first[0].post, BUSY)
    assert await take(world) == ()
    world.clock.advance(1)
    (again,) = await take(world)
    assert again.message.text == "0"
    await world.services.posts.delivered(again.post.id)
    assert await bodies(world) == [("a", "1"), ("a", "3")]


async def test_a_post_that_another_process_carries_is_only_taken_after_the_death_of_that_process(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    await coder.send("ops", "once")
    first, second = world.process(), world.process()
    ((post, _),) = await take(world, first)
    assert await take(world, second) == ()
    world.liveness.kill(Holder(lock=post.holder))
    ((again, _),) = await take(world, second)
    assert (again.id, again.attempts) == (post.id, 2)
    # The first process was not dead after all. Its refusal no longer counts, but its delivery does.
    assert (await first.services.posts.refused(post, PostRefusal("no", is_final=True))).holder == again.holder
    assert (await first.services.posts.delivered(post.id)).state is PostState.DELIVERED
    assert (await second.services.posts.refused(again, BUSY)).state is PostState.DELIVERED


async def test_a_post_that_a_live_process_does_not_finish_is_taken_again_when_its_lease_ends(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    await coder.send("ops", "once")
    ((post, _),) = await take(world)
    batch = await world.services.posts.take(OPS, 1)
    assert (batch.taken, batch.next_at) == ((), post.next_at)
    world.pass_time(minutes=1)
    ((again, _),) = await take(world)
    assert again.attempts == 2


async def test_a_refused_post_waits_longer_each_time_or_as_long_as_the_receiver_asks(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    await coder.send("ops", "once")
    waits: list[float] = []
    for asked in (None, None, None, timedelta(seconds=60), timedelta(days=3)):
        ((post, _),) = await take(world)
        post = await world.services.posts.refused(post, BUSY._replace(retry_after=asked))
        assert post.next_at is not None
        waits.append((post.next_at - world.clock.now()).total_seconds())
        world.pass_time(seconds=waits[-1])
    assert waits == [1, 2, 4, 60, 3600]


async def test_a_post_that_failed_permanently_or_for_a_day_is_reported_to_its_sender_and_stays_in_the_inbox(
    world: World,
) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    for_good = await coder.send("ops", "wrong")
    later = await coder.send("ops", "right")
    (outgoing,) = await take(world)
    failed = await world.services.posts.refused(outgoing.post, PostRefusal("404: no such hook", is_final=True))
    assert (failed.state, failed.error, failed.next_at) == (PostState.FAILED, "404: no such hook", None)
    began_at = world.clock.now()
    (outgoing,) = await take(world)
    assert outgoing.message.text == "right"
    failed = await failed_until_given_up(world, outgoing)
    assert failed.state is PostState.FAILED
    assert world.clock.now() - began_at >= GIVE_UP_AFTER
    for sent, error in ((for_good, "404: no such hook"), (later, "503: busy")):
        assert (await world.delivery(sent.message_id)).state is DeliveryState.QUEUED
        told = [d for d in await coder.inbox.peek() if d.message.in_reply_to == sent.message_id]
        assert [f"could not be posted: {error}" in d.text for d in told] == [True]
    assert len(await world.services.inbox.peek(OPS)) == 2
    moves = [event.details["move"] for event in await world.events(Action.POST_MOVED)]
    assert (moves[0], moves[-1]) == ("fail", "fail")
    assert set(moves[1:-1]) == {"defer"}


async def test_a_failed_post_can_be_retried_on_request(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    sent = await coder.send("ops", "first")
    ((post, _),) = await take(world)
    posts = world.services.posts
    with pytest.raises(IllegalMove):
        await posts.retry(post.id, OWNER)
    await posts.refused(post, PostRefusal("404", is_final=True))
    await coder.send("ops", "second")
    world.pass_time(minutes=60 * 48)
    again = await posts.retry(post.id, OWNER)
    assert (again.state, again.attempts, again.next_at) == (PostState.PENDING, 0, None)
    assert [text for _, text in await bodies(world)] == ["second", "first"]
    assert (await world.delivery(sent.message_id)).state is DeliveryState.HANDLED
    with pytest.raises(PostUnknown):
        await posts.retry(delivery_id(parse_message_id("1794738090871-b745006e-89e8-4bc5-807f-9da2869a073b"), 1), OWNER)


async def test_mail_that_is_withdrawn_expired_or_settled_by_hand_is_not_posted(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    withdrawn = await coder.send("ops", "a mistake")
    await coder.send("ops", "old news", expires_in=timedelta(minutes=1))
    handled = await coder.send("ops", "said by telephone")
    await coder.send("ops", "news")
    await coder.withdraw(withdrawn.message_id)
    await world.services.mail.settle(handled.message_id, Identity(OPS))
    world.pass_time(minutes=2)
    assert await bodies(world) == [(OWN, "news")]
    dropped = await world.services.posts.find(OPS, PostState.DROPPED)
    assert [out.message.text for out in dropped] == ["a mistake", "old news", "said by telephone"]


async def test_a_sender_that_a_channel_does_not_take_mail_from_is_refused_and_nothing_is_posted(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    card = (await world.services.directory.agent(OPS)).card
    await world.services.directory.register(OPS, card._replace(allow_from=("lead",)), OWNER)
    receipt = await coder.send("ops", "hello")
    assert [d.state for d in receipt.deliveries] == [DeliveryState.REFUSED]
    assert await take(world) == ()


# ---------------------------------------------------------------------------------------------- messages of people


async def test_a_persons_message_goes_to_the_bound_agent_and_the_answer_returns_to_the_conversation(
    world: World,
) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    await world.services.channels.bind(OPS, "c-1", parse_address("coder"), OWNER)
    await world.services.channels.hear(PersonMessage(OPS, "c-1", "Is it done?", "ann"))
    (heard,) = await coder.inbox.peek()
    assert (heard.text, str(heard.sender), heard.message.kind) == ("Is it done?", "ops (claimed)", Kind.NOTIFY)
    assert heard.message.callback == Callback("ops", "c-1")
    assert heard.message.marks == Marks(person="ann")
    assert DataPart({"person": "ann"}) in heard.message.parts
    await coder.reply(heard.message.id, "Nearly.")
    assert await bodies(world) == [("c-1", "Nearly.")]
    assert await waiting(coder) == []


async def test_a_relayed_message_keeps_its_conversation_for_the_answer(world: World) -> None:
    await with_channel(world)
    coder, critic = await world.join("coder", "critic")
    await world.services.channels.bind(OPS, "c-1", parse_address("coder"), OWNER)
    await world.services.channels.hear(PersonMessage(OPS, "c-1", "Is it good?"))
    (heard,) = await coder.inbox.peek()
    await coder.send("critic", "is it?", relaying=heard.message.id)
    (asked,) = await critic.inbox.peek()
    await critic.send("ops", "It is.", relaying=asked.message.id)
    assert await bodies(world) == []  # the message has passed through ops already
    assert asked.message.callback == Callback("ops", "c-1")
    await critic.send("ops", "It is.", callback=("ops", "c-1"))
    assert await bodies(world) == [("c-1", "It is.")]


async def test_a_conversation_bound_to_a_session_goes_to_its_agent_after_the_session_ended(world: World) -> None:
    await with_channel(world)
    first, second = await world.join("coder", "coder")
    await world.services.channels.bind(OPS, "c-1", parse_address(str(second.session.key)), OWNER)
    await world.services.channels.hear(PersonMessage(OPS, "c-1", "one"))
    assert (await waiting(first), await waiting(second)) == ([], ["one"])
    await second.leave()
    await world.services.channels.hear(PersonMessage(OPS, "c-1", "two"))
    assert await waiting(first) == ["one", "two"]


async def test_the_channels_own_binding_receives_every_conversation_without_one(world: World) -> None:
    await with_channel(world)
    coder, lead = await world.join("coder", "lead")
    channels = world.services.channels
    with pytest.raises(ConversationUnbound):
        await channels.hear(PersonMessage(OPS, "c-1", "anyone?"))
    await channels.bind(OPS, OWN, parse_address("lead"), OWNER)
    await channels.bind(OPS, "c-1", parse_address("coder"), OWNER)
    for conversation in ("c-1", "c-2", OWN):
        await channels.hear(PersonMessage(OPS, conversation, f"in {conversation}"))
    assert (await waiting(coder), await waiting(lead)) == (["in c-1"], ["in c-2", "in "])
    await channels.unbind(OPS, "c-1", OWNER)
    await channels.hear(PersonMessage(OPS, "c-1", "again"))
    assert (await waiting(lead))[-1] == "again"
    with pytest.raises(ConversationUnbound):
        await channels.unbind(OPS, "c-1", OWNER)
    bound = await world.events(Action.CHANNEL_BOUND)
    assert [(event.agent, event.details["to"]) for event in bound] == [("ops", "lead"), ("ops", "coder")]
    assert len(await world.events(Action.CHANNEL_UNBOUND)) == 1


async def test_a_question_to_people_is_answered_only_in_the_conversation_where_it_was_asked(
    world: World,
) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    draft = await coder.send("ops", "May I deploy?", kind="request", callback=("ops", "c-1"))
    await bodies(world)
    assert (await world.ticket(draft.message_id, "ops")).state is TicketState.OPEN
    with pytest.raises(Invalid):
        await world.services.channels.hear(PersonMessage(OPS, "c-2", "Yes.", reply_to=draft.message_id))
    await world.services.channels.hear(PersonMessage(OPS, "c-1", "Yes.", "ann", reply_to=draft.message_id))
    assert (await world.ticket(draft.message_id, "ops")).state is TicketState.ANSWERED
    assert await waiting(coder) == ["Yes."]


async def test_a_message_repeated_under_the_same_key_is_accepted_once(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    channels = world.services.channels
    await channels.bind(OPS, OWN, parse_address("coder"), OWNER)
    first = await channels.hear(PersonMessage(OPS, "c-1", "yes", key="k-1"))
    world.pass_time(minutes=5)
    again = await channels.hear(PersonMessage(OPS, "c-1", "yes", key="k-1"))
    assert first.message_id == again.message_id
    await channels.hear(PersonMessage(OPS, "c-2", "yes", key="k-1"))
    assert await waiting(coder) == ["yes", "yes"]
    with pytest.raises(IdReused):
        await channels.hear(PersonMessage(OPS, "c-1", "no", key="k-1"))


async def test_only_channels_can_be_bound_and_only_to_known_agents_that_are_no_channels(world: World) -> None:
    await with_channel(world)
    await world.join("coder")
    channels = world.services.channels
    with pytest.raises(RecipientUnknown):
        await channels.bind(OPS, OWN, parse_address("codr"), OWNER)
    with pytest.raises(Invalid):
        await channels.bind(OPS, OWN, parse_address("ops"), OWNER)
    with pytest.raises(ChannelUnknown):
        await channels.bind(AgentName("coder"), OWN, parse_address("coder"), OWNER)
    with pytest.raises(ChannelUnknown):
        await channels.hear(PersonMessage(AgentName("coder"), "c-1", "hello"))
    with pytest.raises(Invalid):
        await channels.hear(PersonMessage(OPS, "c-1", " \n"))


# ------------------------------------------------------------------------------------------------- the channel itself


async def test_no_session_joins_as_a_channel_and_no_live_agent_becomes_one(world: World) -> None:
    await with_channel(world)
    with pytest.raises(IdentityRefused):
        await world.join("ops")
    await world.join("coder")
    with pytest.raises(Invalid):
        await world.services.channels.add(console(AgentName("coder")), OWNER)
    for reserved in ("operator", "covey"):
        with pytest.raises(IdentityRefused):
            await world.services.channels.add(console(AgentName(reserved)), OWNER)


async def test_a_channels_secrets_are_in_no_listing_and_no_journal(world: World) -> None:
    url = "https://example.org:8443/services/T0/B1/xyzzy"
    await world.services.channels.add(webhook(OPS, url, WebhookStyle.SLACK, SECRET), OWNER)
    config = await world.services.channels.config(OPS)
    assert (config.url, config.secret, config.host, config.style) == (
        url,
        SECRET,
        "example.org:8443",
        WebhookStyle.SLACK,
    )
    told = [str(event) for event in await world.events()]
    assert any("example.org" in line for line in told)
    assert not any("xyzzy" in line or SECRET in line for line in told)


async def test_a_removed_channel_keeps_undelivered_mail_and_can_be_added_again(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    channels = world.services.channels
    await channels.bind(OPS, OWN, parse_address("coder"), OWNER)
    sent = [(await coder.send("ops", text)).message_id for text in ("one", "two")]
    assert await channels.remove(OPS, OWNER) == 2
    assert [view.name for view in await channels.all()] == []
    assert len(await world.services.inbox.peek(OPS)) == 2
    assert await take(world) == ()
    with pytest.raises(ChannelUnknown):
        await world.services.posts.retry(delivery_id(sent[0], 1), OWNER)
    with pytest.raises(ChannelUnknown):
        await channels.config(OPS)
    with pytest.raises(ChannelUnknown):
        await channels.remove(OPS, OWNER)
    await with_channel(world)
    (view,) = await channels.all()
    assert (view.waiting, view.failed, view.bindings) == (2, 2, [])
    await world.services.posts.retry(delivery_id(sent[0], 1), OWNER)
    assert await bodies(world) == [(OWN, "one")]


async def test_an_agents_token_can_write_to_people_but_not_manage_channels(world: World) -> None:
    await with_channel(world)
    (coder,) = await world.join("coder")
    identities = world.services.identities
    holder = await identities.by_token(await identities.create_token(coder.name, OWNER))
    narrow = world.services.narrowed_to(holder)
    for service in ("channels", "posts"):
        with pytest.raises(BeyondToken):
            getattr(narrow, service)
    mine = world.process(lambda store: store)
    member = await mine.join("coder", token=await identities.create_token(coder.name, OWNER))
    await member.send("ops", "from a token")
    assert await bodies(world) == [(OWN, "from a token")]
    with pytest.raises(BeyondToken):
        await Outbox(narrow._ports.store, world.clock, SystemIds(), world.liveness).find(OPS, PostState.PENDING)  # pyright: ignore[reportPrivateUsage]


# ------------------------------------------------------------------------------------------------- results


async def test_a_result_goes_once_to_the_conversation_of_its_callback(world: World) -> None:
    await with_channel(world)
    lead, coder = await world.join("lead", "coder")
    card = (await world.services.directory.agent(OPS)).card
    await world.services.directory.register(OPS, card._replace(allow_from=("nobody",)), OWNER)
    request = await lead.send("coder", "do it", kind="request", callback=("ops", "c-1"))
    answer = await coder.reply(request.message_id, "42")
    update = await world.services.mail.message(answer.message_id)
    assert update.callback == Callback("ops", "c-1")

    async def route(tx: Transaction) -> str | None:
        act = Act(tx, coder.identity, world.clock.now())
        routed = await route_result(act, update, SystemIds(), world.liveness)
        return routed.text if routed is not None else None

    async def others(tx: Transaction) -> list[object]:
        act = Act(tx, coder.identity, world.clock.now())
        changed = [
            update._replace(callback=None),
            update._replace(callback=Callback("outside the space", "c-1")),
            update._replace(callback=Callback("lead", "c-1")),
            update._replace(to=(parse_address("ops"),)),
        ]
        return [await route_result(act, message, SystemIds(), world.liveness) for message in changed]

    assert await world.observer.store.commit(route) == "42"
    assert await world.observer.store.commit(others) == [None] * 4
    assert await bodies(world) == [("c-1", "42")]


# ------------------------------------------------------------------------------------------------- the operator


async def test_the_operator_has_an_inbox_without_registration(world: World) -> None:
    (coder,) = await world.join("coder")
    await world.services.policies.close_roster(OWNER)
    assert await world.services.inbox.peek(OPERATOR) == []
    asked = await coder.send("operator", "May I?", kind="request")
    (item,) = await world.services.inbox.peek(OPERATOR)
    assert (item.message.text, item.delivery.number, item.delivery.is_parked) == ("May I?", 1, True)
    with pytest.raises(IdentityRefused):
        await world.join("operator")
    operator = await world.operator()
    answer = Draft(Kind.RESPONSE, (), (TextPart("You may."),), in_reply_to=asked.message_id)
    await world.services.mail.send(answer, operator, SendPolicy())
    assert await waiting(coder) == ["You may."]
    assert (await world.ticket(asked.message_id, "operator")).state is TicketState.ANSWERED
    assert await world.services.inbox.peek(OPERATOR) == []


async def test_the_operator_settles_its_own_copy_and_not_those_of_others(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    sent = await coder.send(["operator", "critic"], "to both")
    await world.services.mail.settle(sent.message_id, await world.operator())
    states = {d.agent: d.state for d in await world.deliveries(sent.message_id)}
    assert states == {"operator": DeliveryState.HANDLED, "critic": DeliveryState.QUEUED}
    await world.services.mail.settle((await coder.send("critic", "to one")).message_id, await world.operator())
    assert await waiting(critic) == ["to both"]
