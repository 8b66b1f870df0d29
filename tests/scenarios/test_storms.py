"""Storms: a causal tree has a budget, agents that say nothing new are stopped, and no waiting agent is left without an
answer."""

import asyncio
from collections.abc import Sequence
from itertools import count, cycle, islice

import pytest

from covey.core.errors import EchoStorm, Invalid, MessageUnknown, OperatorOnly, TreeExhausted
from covey.core.identity import EVERYONE, parse_address
from covey.core.ledger.draft import Draft
from covey.core.ledger.event import Action
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.offer import EvidenceGrade
from covey.core.ledger.outcome import OutcomeKind
from covey.core.ledger.ticket import TicketState
from covey.core.names import SPACE, AgentName, MessageId, parse_message_id
from covey.core.storms.budget import Limit, Limits, Tree
from covey.core.storms.echo import ROUNDS
from covey.ports.store import Transaction
from covey.services.mail.recipients import SendPolicy
from covey.surfaces.python.member import Member
from tests.scenarios.world import World, soon

THOUGHTS = count()
POLITE = ("Thanks!", "You're welcome!", "Great, talk soon!", "Likewise 👋")


async def limit(world: World, **changes: int) -> None:
    """Change limits of the space as the operator."""
    await world.services.storms.set_limits({Limit(name): n for name, n in changes.items()}, await world.operator())


async def begin(alice: Member) -> str:
    return (await alice.send("bob", "Shall we look at the parser?")).message_id


async def volley(alice: Member, bob: Member, times: int, first: str) -> str:
    """Let bob and alice answer each other `times` times with new texts. Return the last id."""
    last = first
    for sender in islice(cycle((bob, alice)), times):
        last = (await sender.reply(last, f"thought number {next(THOUGHTS)}")).message_id
    return last


async def echo(alice: Member, bob: Member, first: str, texts: Sequence[str] = POLITE) -> tuple[int, EchoStorm]:
    """Let bob and alice thank each other until a message is refused.

    Return the number of accepted messages, and the refusal.
    """
    last, senders, said = first, cycle((bob, alice)), cycle(texts)
    for n in range(100):
        try:
            last = (await next(senders).reply(last, next(said))).message_id
        except EchoStorm as error:
            return n, error
    raise AssertionError("nobody stopped them")


async def told(world: World, name: str) -> Sequence[str]:
    """Return the notices of the space to an agent."""
    items = await world.services.inbox.peek(AgentName(name))
    return [item.message.text for item in items if item.message.sender.agent == SPACE]


async def tree_of(world: World, root: str) -> Tree | None:
    async def operation(tx: Transaction) -> Tree | None:
        return await tx.trees.get(parse_message_id(root))

    return await world.observer.store.read(operation)


# ------------------------------------------------------------------------------------------------------ the budget


@pytest.mark.requirement("storm.budget")
async def test_a_tree_at_its_limit_of_messages_refuses_another_and_each_agent_is_notified_once(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, messages=5)
    root = await begin(alice)
    last = await volley(alice, bob, 4, root)
    for sender in (bob, bob, bob):
        with pytest.raises(TreeExhausted) as caught:
            await sender.reply(last, "and another thought")
    assert caught.value.details == {
        "tree": root,
        "limit": "messages",
        "count": 6,
        "allowed": 5,
        "raise_with": "covey storms limits --messages N",
        "lift_with": f"covey storms lift {root}",
    }
    assert all(
        word in caught.value.message
        for word in (root, "6 messages", "the limit is 5", "covey storms limits --messages")
    )
    assert len(await world.services.dialogue.thread(parse_message_id(root))) == 5 + 3  # the messages and their notices
    for name in ("alice", "bob", "operator"):
        (notice,) = await told(world, name)
        assert root in notice
    (event,) = await world.events(Action.STORM_STOPPED)
    assert (event.message_id, event.agent, event.details["code"]) == (root, "bob", "storm-budget")
    (view,) = await world.services.storms.look()
    assert (view.tree.stopped, view.tree.refused, view.tree.messages) == (Limit.MESSAGES, 3, 5)


@pytest.mark.requirement("storm.budget")
async def test_depth_is_the_longest_chain_over_threads_and_relays(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    await limit(world, depth=3)
    root = await begin(alice)
    last = await volley(alice, bob, 2, root)
    relayed = await bob.send("carol", "what do you say to this?", relaying=last)
    tree = await tree_of(world, root)
    assert tree is not None
    assert (tree.depth, tree.messages) == (3, 4)
    with pytest.raises(TreeExhausted) as caught:
        await carol.reply(relayed.message_id, "I like it")
    assert (caught.value.details["limit"], caught.value.details["count"]) == ("depth", 4)
    await bob.reply(root, "nearer to the root there is room")


@pytest.mark.requirement("storm.budget")
async def test_time_runs_while_a_tree_does_not_rest(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, hours=2)
    last = await begin(alice)
    world.pass_time(minutes=600)  # the tree has no other message yet
    for _ in range(3):
        last = await volley(alice, bob, 2, last)
        world.pass_time(minutes=59)
    world.pass_time(seconds=180)
    last = await volley(alice, bob, 2, last)  # after a rest
    for _ in range(2):
        world.pass_time(minutes=50)
        last = await volley(alice, bob, 2, last)
    world.pass_time(minutes=50)
    with pytest.raises(TreeExhausted) as caught:
        await bob.reply(last, "one more thing")
    assert (caught.value.details["limit"], caught.value.details["count"]) == ("hours", 2)


@pytest.mark.requirement("storm.budget")
async def test_children_are_counted_by_spawning_messages(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, children=2)
    root = parse_message_id(await begin(alice))

    async def spawn() -> None:
        draft = Draft(Kind.REQUEST, (parse_address("alice"),), (TextPart("do it"),), relaying=root, expects_reply=True)
        await world.services.mail.send(draft, bob.identity, SendPolicy(spawns=True))

    await spawn()
    await spawn()
    with pytest.raises(TreeExhausted) as caught:
        await spawn()
    assert (caught.value.details["limit"], caught.value.details["count"]) == ("children", 3)
    await bob.reply(root, "they have begun")  # not a spawning message, so the limit of children does not apply


async def test_a_first_message_without_replies_is_in_no_tree(world: World) -> None:
    alice, _bob = await world.join("alice", "bob")
    await limit(world, messages=1, depth=1)
    for n in range(5):
        await alice.send("bob", f"news {n}")
    assert await world.services.storms.look(is_all=True) == []


@pytest.mark.requirement("storm.budget")
async def test_an_owed_answer_is_accepted_in_a_stopped_tree(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, messages=3)
    root = await begin(alice)
    asked = await alice.ask("bob", "which branch?", timeout=0, in_reply_to=root)
    await bob.send("alice", "a remark", in_reply_to=root)
    with pytest.raises(TreeExhausted):
        await bob.send("alice", "another remark", in_reply_to=root)
    await bob.reply(asked.ticket.message_id, "main")
    outcome = await alice.resume(asked.ticket.id, timeout=0)
    assert (outcome.kind, outcome.text) == (OutcomeKind.REPLIED, "main")
    with pytest.raises(TreeExhausted):  # the debt is paid, so a second answer is not due
        await bob.reply(asked.ticket.message_id, "main, I said")


async def test_a_task_of_a_stopped_tree_can_be_finished_and_its_delegator_gets_the_result(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, messages=2)
    root = await begin(alice)
    task = await alice.delegate("bob", "mend it", relaying=root)
    with pytest.raises(TreeExhausted):
        await bob.reply(root, "a remark")
    work = await bob.take(timeout=0, start=True)
    assert work is not None
    for percent in range(20):
        await work.progress(f"working: {percent} %")
        await work.progress("still working")
    await work.complete("done")
    result = await task.result(timeout=0)
    assert result is not None
    assert result.text == "done"


@pytest.mark.requirement("storm.budget")
async def test_only_the_operator_raises_a_limit_or_lifts_a_tree(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    storms, operator = world.services.storms, await world.operator()
    await limit(world, messages=3)
    root = await begin(alice)
    last = await volley(alice, bob, 2, root)
    with pytest.raises(TreeExhausted):
        await bob.reply(last, "more")
    for actor in (alice.identity, world.services.identities.claim(AgentName("owner"))):
        with pytest.raises(OperatorOnly):
            await storms.set_limits({Limit.MESSAGES: 100}, actor)
        with pytest.raises(OperatorOnly):
            await storms.lift(MessageId(root), actor)
    await limit(world, messages=5)
    last = (await bob.reply(last, "more")).message_id
    (view,) = await storms.look()
    assert (view.tree.stopped, view.tree.messages) == (None, 4)  # near its limit, and active
    await alice.reply(last, "yet more")
    with pytest.raises(TreeExhausted):
        await alice.reply(last, "and more")
    await storms.lift(MessageId(last), operator)  # any message of the tree can be named
    await volley(alice, bob, 4, last)
    assert (await world.events(Action.STORM_LIFTED))[0].details["messages"] == 5
    lonely = await alice.send("bob", "nobody answered this")
    with pytest.raises(MessageUnknown):
        await storms.lift(lonely.message_id, operator)
    with pytest.raises(Invalid):
        await storms.set_limits({Limit.HOURS: 0}, operator)
    assert await storms.limits() == Limits(messages=5)


async def test_a_message_of_a_person_passes_and_resets_the_budget_of_the_tree(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, messages=3)
    root = await begin(alice)
    last = await volley(alice, bob, 2, root)
    with pytest.raises(TreeExhausted):
        await bob.reply(last, "more")
    draft = Draft(Kind.NOTIFY, (parse_address("bob"),), (TextPart("Go on."),), in_reply_to=parse_message_id(last))
    await world.services.mail.send(draft, await world.operator(), SendPolicy())
    await volley(alice, bob, 2, last)


async def test_the_operator_can_get_mail_in_a_stopped_tree(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, messages=2)
    root = await begin(alice)
    await volley(alice, bob, 1, root)
    with pytest.raises(TreeExhausted):
        await bob.send("alice", "help", in_reply_to=root)
    for _ in range(2 * ROUNDS + 2):
        await bob.send("operator", "help", relaying=root)


async def test_of_many_simultaneous_messages_only_as_many_pass_as_the_budget_allows(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    await limit(world, messages=6)
    root = await begin(alice)

    async def is_heard(n: int) -> bool:
        try:
            await soon(bob.send("alice", f"remark {n}", in_reply_to=root))
        except TreeExhausted:
            return False
        return True

    assert sum(await asyncio.gather(*map(is_heard, range(20)))) == 5
    assert len(await world.events(Action.STORM_STOPPED)) == 1


# ------------------------------------------------------------------------------------------------------- echoes


@pytest.mark.requirement("storm.echo")
async def test_two_agents_that_thank_each_other_are_stopped_after_a_few_rounds_and_all_are_notified(
    world: World,
) -> None:
    alice, bob = await world.join("alice", "bob")
    root = await begin(alice)
    times, error = await echo(alice, bob, root)
    assert times == 2 * ROUNDS
    assert error.details == {
        "tree": root,
        "agents": ["bob", "alice"],
        "count": 2 * ROUNDS,
        "lift_with": f"covey storms lift {root}",
    }
    for name in ("alice", "bob", "operator"):
        (notice,) = await told(world, name)
        assert "nothing new" in notice
    (event,) = await world.events(Action.STORM_STOPPED)
    assert event.details["code"] == "echo-storm"
    (view,) = await world.services.storms.look()
    assert [talk.key for talk in view.tree.echoes] == ["alice bob"]


@pytest.mark.requirement("storm.echo")
async def test_both_agents_are_refused_until_one_says_something_new(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    root = await begin(alice)
    await echo(alice, bob, root)
    for sender in (alice, bob):
        with pytest.raises(EchoStorm):
            await sender.send("bob" if sender is alice else "alice", "Thanks again!", in_reply_to=root)
    assert len(await told(world, "alice")) == 1  # each agent is notified only once
    news = await alice.send("bob", "The deploy has failed on the third node.", in_reply_to=root)
    await bob.reply(news.message_id, "Thanks!")
    assert await world.services.storms.look() == []


@pytest.mark.requirement("storm.echo")
async def test_the_operator_can_lift_an_echo(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    root = await begin(alice)
    await echo(alice, bob, root)
    await world.services.storms.lift(parse_message_id(root), await world.operator())
    times, _ = await echo(alice, bob, root)
    assert times == 2 * ROUNDS


@pytest.mark.requirement("storm.echo")
async def test_agents_that_thank_everyone_are_stopped_as_two_would_be(world: World) -> None:
    members = await world.join("alice", "bob", "carol")
    root = (await members[0].send("*", "The release is out.")).message_id
    for sender in islice(cycle(members), 3 * ROUNDS):
        await sender.send("*", "Thank you all!", in_reply_to=root)
    for sender in members:
        with pytest.raises(EchoStorm) as caught:
            await sender.send("*", "Thank you all!", in_reply_to=root)
        assert caught.value.details["agents"] == [sender.name, *[m.name for m in members if m is not sender]]
    for name in ("alice", "bob", "carol", "operator"):
        assert len(await told(world, name)) == 1


async def test_other_agents_of_the_tree_and_other_trees_are_not_stopped(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    root = await begin(alice)
    await echo(alice, bob, root)
    await bob.send("carol", "Thanks!", relaying=root)
    await carol.send("bob", "You're welcome!", in_reply_to=root)
    other = await begin(alice)
    await bob.reply(other, "Thanks!")


@pytest.mark.requirement("storm.echo")
async def test_an_owed_answer_is_delivered_however_often_it_was_repeated(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    root = await begin(alice)
    await echo(alice, bob, root)
    with pytest.raises(EchoStorm):
        await alice.ask("bob", "ok?", timeout=0, in_reply_to=root)
    asked = await alice.ask("bob", "Which shard holds the users?", timeout=0, in_reply_to=root)
    await bob.reply(asked.ticket.message_id, "ok", close=False)
    assert (await world.ticket(asked.ticket.message_id, "bob")).state is TicketState.ANSWERED


@pytest.mark.requirement("storm.echo")
async def test_numbered_batches_and_progress_are_no_echo(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    last = await begin(alice)
    for n in range(30):
        last = (await bob.reply(last, f"Batch {n} is processed, please confirm.")).message_id
        last = (await alice.reply(last, "Confirmed.")).message_id
    for n in range(30):
        last = (await bob.reply(last, "reading", data={"celsius": n})).message_id
        last = (await alice.reply(last, "ok")).message_id


async def model_reads(member: Member) -> None:
    async with member.turn() as turn:
        turn.text()
        turn.responded("r")


async def model_says(member: Member, to: str, text: str) -> str:
    """Let a member's model write to an agent without naming what it answers. Return the answer of the tool."""
    answer = await member.tools("peers").call("send_to_peer", {"to": to, "message": text})
    return answer.text


@pytest.mark.requirement("storm.echo")
async def test_models_that_never_say_what_they_answer_are_stopped_too(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    assert "delivered_to" in await model_says(alice, "bob", "The parser is done.")
    answers: list[str] = []
    for n in range(2 * ROUNDS + 1):
        sender, to = (alice, "bob") if n % 2 else (bob, "alice")
        await model_reads(sender)
        answers.append(await model_says(sender, to, POLITE[n % len(POLITE)]))
    assert ["delivered_to" in answer for answer in answers] == [True] * 2 * ROUNDS + [False]
    assert "nothing new" in answers[-1]
    (view,) = await world.services.storms.look()
    assert (view.tree.messages, view.tree.depth) == (2 * ROUNDS + 1, 2 * ROUNDS)


@pytest.mark.requirement("storm.echo")
async def test_models_whose_mail_another_process_shows_are_stopped_too(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    hooks = world.process().services.offers
    assert "delivered_to" in await model_says(alice, "bob", "The parser is done.")
    answers: list[str] = []
    for n in range(2 * ROUNDS + 1):
        sender, to = (alice, "bob") if n % 2 else (bob, "alice")
        showing = await hooks.offer(sender.identity, "turn")
        assert showing is not None
        answers.append(await model_says(sender, to, POLITE[n % len(POLITE)]))
        await hooks.confirm(showing.offer.id, sender.identity, EvidenceGrade.INFERRED, "it went on")
    assert ["delivered_to" in answer for answer in answers] == [True] * 2 * ROUNDS + [False]
    assert "nothing new" in answers[-1]


async def test_only_recently_shown_messages_of_the_recipient_lead_to_a_tree(world: World) -> None:
    alice, bob, carol = await world.join("alice", "bob", "carol")
    root = (await alice.send("bob", "The parser is done.")).message_id
    recently_shown, session = world.services.recently_shown, bob.session.id
    to_alice, to_carol = (parse_address(alice.name),), (parse_address(carol.name),)
    assert await recently_shown.leading(session, to_alice) is None  # the message is pending and was not shown
    assert await world.process().services.offers.offer(bob.identity, "turn") is not None
    assert await recently_shown.leading(session, to_alice) == root
    assert await recently_shown.leading(session, (EVERYONE,)) == root
    assert await recently_shown.leading(session, to_carol) is None
    assert await recently_shown.leading(None, to_alice) is None
    world.pass_time(minutes=10)
    assert await recently_shown.leading(session, to_alice) is None


async def test_messages_that_were_shown_long_ago_lead_to_no_tree(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    for n in range(20):
        sender, to = (alice, "bob") if n % 2 else (bob, "alice")
        await model_reads(sender)
        world.pass_time(minutes=10)
        assert "delivered_to" in await model_says(sender, to, "Good morning!")
    assert await world.services.storms.look(is_all=True) == []


async def test_pruning_forgets_trees_that_do_not_grow_any_more(world: World) -> None:
    alice, bob = await world.join("alice", "bob")
    root = await begin(alice)
    await volley(alice, bob, 2, root)
    assert await tree_of(world, root) is not None
    world.pass_time(minutes=60)
    forgotten = await world.observer.store.commit(lambda tx: tx.trees.forget(world.clock.now(), 10))
    assert forgotten == 1
