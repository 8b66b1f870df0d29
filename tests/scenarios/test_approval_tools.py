"""Approvals by tools: models ask and decide with any toolkit."""

import asyncio
import json
from collections.abc import Mapping

import pytest

from covey.core.json import Json
from covey.core.work.approval import ApprovalState
from covey.surfaces.python.member import Member
from covey.testing.fakes import numbered_uuid
from covey.toolkits.arguments import LONGEST_WAIT
from tests.scenarios.test_approvals import PLAN, asked, next_of
from tests.scenarios.tools import fields, refusal, use
from tests.scenarios.world import World, read, soon, waiting

pytestmark = pytest.mark.requirement("peers.approvals")

NOBODYS = f"1767225600000-{numbered_uuid(999)}"


@pytest.mark.parametrize("is_approved", [True, False])
async def test_a_model_asks_a_peer_and_waits_for_its_decision(world: World, is_approved: bool) -> None:
    coder, lead = await world.join("coder", "lead")

    async def decide() -> None:
        number = (await next_of(lead)).number
        arguments = {"request": number, "approve": is_approved, "reason": "because"}
        answer = await use(lead, "peers", "decide_approval", **arguments)
        assert fields(answer)["told"] == "coder"

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(
            soon(use(coder, "peers", "request_approval", to="lead", kind="shutdown", message="all is done"))
        )
        group.create_task(soon(decide()))
    answer = asking.result()
    assert json.loads(answer.text) == answer.data
    assert not answer.is_error
    word = "approved" if is_approved else "rejected"
    assert {**fields(answer), "ticket": ""} == {"decision": word, "by": "lead", "ticket": "", "reason": "because"}
    assert await waiting(coder) == []
    assert LONGEST_WAIT < 30, "clients give up on a call that takes half a minute"


async def test_a_wait_that_times_out_returns_a_ticket_to_resume_it(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    waits = fields(await use(coder, "peers", "request_approval", to="lead", message=PLAN, wait=0))
    assert waits["decision"] == "waiting"
    assert waits["note"].startswith(
        "lead has not read it. You are not approved yet; to wait on, call request_approval("
    )
    await read(lead)
    again = fields(await use(coder, "peers", "request_approval", ticket=waits["ticket"], wait=0))
    assert again["note"].startswith("lead has read it.")
    world.kill(lead)
    (lead,) = await world.join("lead")
    await use(lead, "peers", "decide_approval", request="1", approve="false", reason="no")
    done = fields(await use(coder, "peers", "request_approval", ticket=waits["ticket"]))
    assert (done["decision"], done["reason"]) == ("rejected", "no")


async def test_a_late_decision_is_shown_once(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    await use(coder, "peers", "request_approval", to="lead", message=PLAN, wait=0)
    await use(lead, "peers", "decide_approval", request=1, approve=True)
    async with coder.turn(**coder.tools("peers").showing) as turn:
        text = turn.text("peers")
        turn.responded("r-1")
    assert "Approved" in text
    assert "plan_approval_response" in text
    async with coder.turn(**coder.tools("peers").showing) as turn:
        assert turn.text("peers") == ""


async def test_a_model_that_is_asked_sees_the_request_and_how_to_decide(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    await asked(coder)
    async with lead.turn(**lead.tools("peers").showing) as turn:
        text = turn.text("peers")
    assert 'approval="plan_approval_request"' in text
    assert 'decide="decide_approval(request=1, approve=true or false, reason=…)"' in text
    assert PLAN in text


async def test_a_request_that_cannot_be_delivered_is_an_error_that_says_why(world: World) -> None:
    (coder,) = await world.join("coder")
    await world.process().join("hermit", card={"allow_from": ["lead"]})
    answer = await use(coder, "peers", "request_approval", to="hermit", message=PLAN)
    assert (answer.is_error, fields(answer)["decision"]) == (True, "failed")
    assert "takes no mail from coder" in fields(answer)["reason"]


NATIVE: Mapping[str, Json] = {"reply_to": 1, "message": "go on", "approve": True}
WAYS: list[tuple[str, str, Mapping[str, Json]]] = [
    ("peers", "decide_approval", {"request": 1, "approve": True, "reason": "go on"}),
    ("native", "send_message", NATIVE),
    ("native", "send_message", {"reply_to": 1, "message": '{"approve": true, "reason": "go on"}'}),
    ("broadcast", "broadcast", {"reply_to": 1, "message": '{"approve": true, "reason": "go on"}'}),
    (
        "mailbox",
        "send_message",
        {"to": "coder", "reply_to": 1, "parts": [{"type": "data", "data": {"approve": True, "reason": "go on"}}]},
    ),
    (
        "dialogue",
        "messages_send",
        {
            "to": "coder",
            "kind": "response",
            "subject": "plan",
            "phase": "T-1",
            "in_reply_to": 1,
            "body": '{"approve": true, "reason": "go on"}',
        },
    ),
]


@pytest.mark.parametrize(("kit", "tool", "arguments"), WAYS)
async def test_a_model_decides_with_any_toolkit(
    world: World, kit: str, tool: str, arguments: Mapping[str, Json]
) -> None:
    coder, lead = await world.join("coder", "lead")
    request = await asked(coder)
    await lead.offer("turn")
    answer = await use(lead, kit, tool, **arguments)
    assert not answer.is_error, answer
    approval = await coder.resume_approval(f"{request}@lead", timeout=0)
    assert (approval.state, approval.reason) == (ApprovalState.APPROVED, "go on")
    (delivery,) = await world.deliveries(request)
    assert delivery.grade == "named", "who decides on a request has read it"


@pytest.mark.parametrize(("kit", "tool", "arguments"), [way for way in WAYS if "approve" not in way[2]])
async def test_a_model_that_answers_without_a_decision_is_told_how_to_decide(
    world: World, kit: str, tool: str, arguments: Mapping[str, Json]
) -> None:
    coder, lead = await world.join("coder", "lead")
    request = await asked(coder)
    text = next(name for name in ("message", "body", "parts") if name in arguments)
    yes: Json = [{"type": "text", "text": "yes, go on"}] if text == "parts" else "yes, go on"
    before = await world.position()
    told = await refusal(lead, kit, tool, **{**arguments, text: yes})
    assert "must contain a decision" in told
    assert '{"approve": true}' in told
    assert await world.position() == before
    assert (await coder.resume_approval(f"{request}@lead", timeout=0)).state is ApprovalState.WAITING


async def told_wrong(lead: Member, **arguments: Json) -> str:
    return await refusal(lead, "peers", "decide_approval", **arguments)


async def test_a_wrong_call_is_refused_with_a_reason_and_changes_nothing(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    await asked(coder)
    await coder.send("lead", "hi")
    before = await world.position()
    assert "asks for no approval" in await told_wrong(lead, request=2, approve=True)
    assert "reason is missing" in await told_wrong(lead, request=1, approve=False)
    assert "Waiting: #1 from coder" in await told_wrong(lead, request=9, approve=True)
    assert "no message" in await told_wrong(lead, request=NOBODYS, approve=True)
    assert "needs it" in await told_wrong(lead, request=1)
    assert "use true or false" in await told_wrong(lead, request=1, approve="perhaps")
    assert "reply_to" in await refusal(lead, "native", "send_message", to="coder", message="x", approve=True)
    assert "asks for no approval" in await refusal(lead, "native", "send_message", **{**NATIVE, "reply_to": 2})
    assert "files" in await refusal(lead, "native", "send_message", **NATIVE, files=["/etc/passwd"])
    for arguments, told in (
        ({"to": "lead"}, "message is missing"),
        ({"message": "x"}, "to is missing"),
        ({"to": "coder", "message": "x"}, "that is you"),
        ({"to": "leed", "message": "x"}, "lead"),
        ({"to": "lead", "message": "x", "kind": "7up"}, "use plan, shutdown"),
        ({"ticket": "x"}, "copy it exactly as request_approval gave it"),
        ({"ticket": f"{NOBODYS}@lead"}, "no ticket"),
        ({"ticket": f"{NOBODYS}@lead", "to": "lead"}, "give the ticket alone"),
    ):
        assert told in await refusal(coder, "peers", "request_approval", **arguments)
    assert await world.position() == before


async def test_a_second_different_decision_is_refused(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    await asked(coder)
    first = await use(lead, "peers", "decide_approval", request=1, approve=True)
    assert fields(await use(lead, "peers", "decide_approval", request=1, approve=True)) == fields(first)
    told = await told_wrong(lead, request=1, approve=False, reason="after all")
    assert "was approved already" in told
    assert len(await waiting(coder)) == 1


async def test_a_message_that_waits_for_a_decision_is_listed_as_such(world: World) -> None:
    coder, lead = await world.join("coder", "lead")
    await asked(coder)
    first = (await use(lead, "native", "read_inbox")).text
    assert "wants your approval (plan_approval_request) [send_message(reply_to=1, approve=true or false" in first
    await lead.named((await lead.inbox.peek())[0].id, "a test")
    assert "- #1 request from coder (session), wants your approval: " in (await use(lead, "native", "read_inbox")).text
