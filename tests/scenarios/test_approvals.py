"""Approvals: a request that only a decision answers, once, by the agent that was asked. The asker can wait for it."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from covey.core.errors import (
    AlreadyDecided,
    CoveyError,
    DecisionMissing,
    Invalid,
    MessageUnknown,
    NotAnApproval,
    NotAnswered,
    NotYours,
    RecipientUnknown,
    TicketUnknown,
)
from covey.core.formats.peers import inbox_message
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.message import DataPart, Kind
from covey.core.ledger.ticket import TicketState
from covey.core.names import parse_message_id
from covey.core.work.approval import ApprovalState, Decision
from covey.surfaces.python.inbox import Delivery
from covey.surfaces.python.member import Member
from covey.testing.fakes import numbered_uuid
from tests.scenarios.world import LIMIT_S, World, ask_back, read, soon, waiting

pytestmark = pytest.mark.requirement("peers.approvals")

NOBODYS = f"1767225600000-{numbered_uuid(999)}"
PLAN = "1. replace the parser  2. delete the old one"


async def next_of(member: Member) -> Delivery:
    delivery = await soon(member.inbox.next(timeout=LIMIT_S))
    assert delivery is not None
    return delivery


async def asked(coder: Member, what: str = "plan") -> str:
    """Ask the lead for an approval without waiting. Return the id of the request."""
    approval = await coder.request_approval("lead", what, PLAN, timeout=0)
    assert approval.state is ApprovalState.WAITING
    return approval.ticket.message_id


async def decided(world: World, request: str) -> str:
    """Return the decision as the asker reads it."""
    ticket = await world.ticket(request, "lead")
    answer = await world.services.mail.message(parse_message_id(str(ticket.answer)))
    return answer.text


@pytest.mark.parametrize("what", ["plan", "shutdown_request", "deploy"])
@pytest.mark.parametrize("is_approved", [True, False])
async def test_the_asker_waits_for_the_decision(world: World, what: str, is_approved: bool) -> None:
    coder, lead = await world.join("coder", "lead")

    async def decide() -> None:
        delivery = await next_of(lead)
        assert (delivery.text, delivery.approval is not None) == (PLAN, True)
        await (delivery.approve("go on") if is_approved else delivery.reject("the tests first"))

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(soon(coder.request_approval("lead", what, PLAN, timeout=LIMIT_S)))
        group.create_task(decide())
    approval = asking.result()
    assert bool(approval) is is_approved
    expected = (ApprovalState.APPROVED, "go on") if is_approved else (ApprovalState.REJECTED, "the tests first")
    assert (approval.state, approval.reason) == expected
    assert await waiting(coder) == [], "the decision was returned; it does not arrive a second time"
    assert (await world.ticket(approval.ticket.message_id, "lead")).state is TicketState.CLOSED
    assert not await lead.owed()


async def test_request_and_answer_have_the_agreed_forms(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    request = await asked(coder)
    (delivery,) = await lead.inbox.peek()
    assert (delivery.message.kind, delivery.message.expects_reply) == (Kind.REQUEST, True)
    assert DataPart({"type": "plan_approval_request", "request_id": request}) in delivery.message.parts
    await delivery.reject("the tests first")
    (answer,) = await coder.inbox.peek()
    assert (answer.message.kind, answer.message.in_reply_to) == (Kind.RESPONSE, request)
    assert answer.text == "Rejected: the tests first"
    data = {
        "type": "plan_approval_response",
        "request_id": request,
        "approve": False,
        "feedback": "the tests first",
    }
    assert DataPart(data) in answer.message.parts
    shutdown = await asked(coder, "shutdown")
    await lead.approve(shutdown)
    answer = (await coder.inbox.peek())[-1]
    data = {"type": "shutdown_response", "request_id": shutdown, "approve": True, "reason": ""}
    assert DataPart(data) in answer.message.parts


async def test_programs_that_read_only_text_get_the_json(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    request = await asked(coder)
    (delivery,) = await lead.inbox.peek()
    assert inbox_message(delivery.message, lead.name)["body"] == (
        f'{{"type":"plan_approval_request","request_id":"{request}","plan":"{PLAN}"}}'
    )
    await lead.approve(request, "fine")
    (answer,) = await coder.inbox.peek()
    assert inbox_message(answer.message, coder.name)["body"] == (
        f'{{"type":"plan_approval_response","request_id":"{request}","approve":true,"feedback":"fine"}}'
    )


async def test_a_program_that_writes_only_text_can_ask_and_answer(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    body = '{"type": "shutdown_request", "request_id": "r-1", "reason": "all is done"}'
    outcome = await coder.ask("lead", body, timeout=0)
    (delivery,) = await lead.inbox.peek()
    assert delivery.approval is not None
    assert (delivery.approval.type, delivery.approval.request_id) == ("shutdown_request", "r-1")
    await delivery.reply('{"type": "shutdown_response", "request_id": "r-1", "approve": false, "reason": "one more"}')
    approval = await coder.resume_approval(outcome.ticket.id, timeout=0)
    assert (approval.state, approval.reason) == (ApprovalState.REJECTED, "one more")


async def test_a_wait_that_runs_out_is_no_decision_and_the_late_one_arrives_once(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    approval = await coder.request_approval("lead", "plan", PLAN, timeout=0)
    assert (approval.state, bool(approval), approval.answer) == (ApprovalState.WAITING, False, None)
    await lead.approve(approval.ticket.message_id)
    assert await waiting(coder) == ["Approved"]
    await read(coder)
    assert await coder.offer("turn-2") is None
    late = await coder.resume_approval(approval.ticket.id, timeout=0)
    assert late.state is ApprovalState.APPROVED
    assert (await coder.resume_approval(approval.ticket.id, timeout=0)).answer == late.answer


async def test_a_late_decision_that_a_wait_returns_does_not_arrive_in_the_inbox_too(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    approval = await coder.request_approval("lead", "plan", PLAN, timeout=0)

    async def approve() -> None:
        await (await next_of(lead)).approve()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(soon(coder.resume_approval(approval.ticket.id, timeout=LIMIT_S)))
        group.create_task(approve())
    assert asking.result()
    assert await waiting(coder) == []


async def test_an_asker_that_died_gets_the_decision_by_its_ticket(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    request = await asked(coder)
    world.kill(coder)
    await lead.approve(request)
    (again,) = await world.join("coder")
    assert (await again.resume_approval(f"{request}@lead", timeout=0)).state is ApprovalState.APPROVED
    assert await waiting(again) == []


async def test_a_decider_that_died_leaves_the_decision_to_the_next_session(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    request = await asked(coder)
    await read(lead)
    world.kill(lead)
    assert (await coder.resume_approval(f"{request}@lead", timeout=0)).state is ApprovalState.WAITING
    (heir,) = await world.join("lead")
    (delivery,) = await heir.inbox.peek()
    await delivery.reject("not now")
    assert (await coder.resume_approval(f"{request}@lead", timeout=0)).reason == "not now"


async def test_asking_again_with_the_same_id_makes_one_request(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    first = await coder.request_approval("lead", "plan", PLAN, timeout=0, id=NOBODYS)
    again = await coder.request_approval("lead", "plan", PLAN, timeout=0, id=NOBODYS)
    assert first.ticket == again.ticket
    assert await waiting(lead) == [PLAN]


# ------------------------------------------------------------------------------------------------- invalid decisions


@pytest.mark.parametrize(
    "text", ["yes, go on", "Approved", '{"approve": "yes"}', '{"approve": true, "request_id": "x"}']
)
async def test_an_answer_without_a_valid_decision_is_refused_and_decides_nothing(world: World, text: str) -> None:
    coder, lead = await world.join("coder", "lead")
    request = await asked(coder)
    before = await world.position()
    with pytest.raises(DecisionMissing):
        await lead.reply(request, text)
    assert await world.position() == before
    assert (await coder.resume_approval(f"{request}@lead", timeout=0)).state is ApprovalState.WAITING
    with pytest.raises(NotAnswered):
        await lead.archive(request)


async def test_a_remark_and_a_question_back_leave_the_request_open(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    request = await asked(coder)
    await lead.send("coder", "after lunch", in_reply_to=request)
    question = await ask_back(world, lead, request, "which parser?")
    assert await waiting(coder) == ["after lunch", "which parser?"]
    assert (await coder.resume_approval(f"{request}@lead", timeout=0)).state is ApprovalState.WAITING
    await coder.reply(question, "the old one", close=True)
    await lead.approve(request)
    assert await coder.resume_approval(f"{request}@lead", timeout=0)


async def test_a_reply_with_a_decision_decides(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    request = await asked(coder)
    await lead.reply(request, "Fine, but slowly.", data={"approve": True})
    approval = await coder.resume_approval(f"{request}@lead", timeout=0)
    assert (approval.state, approval.reason) == (ApprovalState.APPROVED, "Fine, but slowly.")


# -------------------------------------------------------------------------------- the first decision, and permissions


async def test_the_first_decision_counts(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    request = await asked(coder)
    first = await lead.reject(request, "the tests first")
    before = await world.position()
    for refused in (lead.approve(request), lead.reply(request, "x", data={"approve": True})):
        with pytest.raises(AlreadyDecided) as error:
            await refused
        assert (error.value.decision, error.value.answer) == ("rejected", first.message_id)
    again = await lead.reject(request, "in other words")
    assert again.message_id == first.message_id
    assert await world.position() == before
    assert await decided(world, request) == "Rejected: the tests first"


async def test_of_two_sessions_that_decide_differently_the_second_is_refused(world: World) -> None:
    coder, one, other = await world.join("coder", "lead", "lead")
    request = await asked(coder)
    await one.approve(request)
    with pytest.raises(AlreadyDecided):
        await other.reject(request, "no")
    await other.approve(request)
    assert len(await waiting(coder)) == 1
    assert [copy.state for copy in await world.deliveries(request)] == [DeliveryState.HANDLED, DeliveryState.HANDLED]


async def test_only_the_asked_agent_or_the_operator_decides(world: World) -> None:
    coder, lead, critic = await world.join("coder", "lead", "critic")
    request = await asked(coder)
    before = await world.position()
    refused: list[Callable[[], Awaitable[object]]] = [
        lambda: critic.approve(request),
        lambda: critic.reject(request, "no"),
        lambda: critic.reply(request, "x", data={"approve": True}),
        lambda: coder.approve(request),
    ]
    for attempt in refused:
        with pytest.raises(NotYours):
            await attempt()
    assert await world.position() == before
    operator = await world.operator()
    await world.services.approvals.decide(parse_message_id(request), operator, Decision(True, "by the boss"))
    approval = await coder.resume_approval(f"{request}@lead", timeout=0)
    assert (approval.state, approval.reason) == (ApprovalState.APPROVED, "by the boss")
    assert approval.answer is not None
    assert approval.answer.sender.is_operator
    assert not await lead.owed()
    with pytest.raises(NotYours):
        await critic.resume_approval(f"{request}@lead", timeout=0)


async def test_a_closed_request_cannot_be_decided(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    waived, withdrawn = await asked(coder), await asked(coder)
    await coder.waive(f"{waived}@lead")
    await coder.withdraw(withdrawn)
    for request, how in ((waived, "waived"), (withdrawn, "withdrawn")):
        with pytest.raises(AlreadyDecided, match=how):
            await lead.approve(request)
        approval = await coder.resume_approval(f"{request}@lead", timeout=0)
        assert (approval.state, bool(approval)) == (ApprovalState.FAILED, False)
        assert "closed without a decision" in approval.reason


async def test_a_request_that_cannot_be_delivered_fails(world: World) -> None:
    (coder,) = await world.join("coder")
    await world.process().join("hermit", card={"allow_from": ["lead"]})
    refused = await coder.request_approval("hermit", "plan", PLAN, timeout=LIMIT_S)
    assert (refused.state, "not-allowed" in refused.reason) == (ApprovalState.FAILED, True)
    ghost = await coder.request_approval(
        "ghost", "plan", PLAN, timeout=LIMIT_S, when_unknown="register", when_offline="refuse"
    )
    assert (ghost.state, "no-live-session" in ghost.reason) == (ApprovalState.FAILED, True)


async def test_an_expired_request_fails_and_can_still_be_decided_late(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    ticket = (await coder.request_approval("lead", "plan", PLAN, timeout=0, expires_in=timedelta(seconds=5))).ticket
    world.pass_time(seconds=10)
    await world.tend()
    assert (await coder.resume_approval(ticket.id, timeout=0)).state is ApprovalState.FAILED
    await lead.approve(ticket.message_id)
    assert await coder.resume_approval(ticket.id, timeout=0)


async def test_wrong_calls_change_nothing_and_say_why(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    request = await asked(coder)
    question = (await coder.ask("lead", "which one?", timeout=0)).ticket
    note = (await coder.send("lead", "hi")).message_id
    before = await world.position()
    wrong: list[tuple[type[CoveyError], Callable[[], Awaitable[object]]]] = [
        (NotAnApproval, lambda: lead.approve(question.message_id)),
        (NotAnApproval, lambda: lead.reject(note, "no")),
        (NotAnApproval, lambda: coder.resume_approval(question.id, timeout=0)),
        (MessageUnknown, lambda: lead.approve(NOBODYS)),
        (TicketUnknown, lambda: coder.resume_approval(f"{NOBODYS}@lead", timeout=0)),
        (Invalid, lambda: lead.approve("3")),
        (Invalid, lambda: lead.reject(request, "")),
        (Invalid, lambda: lead.reject(request, " \n")),
        (Invalid, lambda: lead.approve(request, "x" * 10_001)),
        (Invalid, lambda: coder.request_approval("lead", "", PLAN)),
        (Invalid, lambda: coder.request_approval("lead", "plan", PLAN, timeout=-1)),
        (Invalid, lambda: coder.request_approval("*", "plan", PLAN)),
        (RecipientUnknown, lambda: coder.request_approval("leader", "plan", PLAN)),
    ]
    for kind, attempt in wrong:
        with pytest.raises(kind):
            await attempt()
    assert await world.position() == before
