"""The native toolkit: tools with which a model lists agents, sends, asks, reads and dismisses."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

import covey
from covey.core.identity import Identity
from covey.core.json import Json
from covey.core.ledger.delivery import DeliveryState
from covey.core.ledger.offer import EvidenceGrade
from covey.core.ledger.ticket import TicketState
from covey.core.names import AgentName
from covey.surfaces.python.member import Member
from covey.toolkits.arguments import LONGEST_WAIT
from covey.toolkits.native import TOOLKIT
from covey.toolkits.native.inbox import READ_INBOX
from covey.toolkits.tool import Caller, ToolAnswer
from covey.toolkits.toolbox import call
from tests.scenarios.tools import fields, refusal, use
from tests.scenarios.world import World, soon, waiting


async def do(member: Member, tool: str, **arguments: Json) -> ToolAnswer:
    """Call a native tool, which must succeed."""
    answer = await use(member, "native", tool, **arguments)
    assert not answer.is_error, answer
    return answer


# ------------------------------------------------------------------------------------------------- list_agents


async def test_a_model_learns_its_name_and_the_other_agents(world: World) -> None:
    coder, gone = await world.join("coder", "gone")
    critic = await world.process().join("critic", card={"description": "reviews code", "capabilities": ["python"]})
    await critic.set_busy()
    await critic.set_status("reading\nthe parser")
    await gone.leave()
    answer = await do(coder, "list_agents", status="writing tests")
    assert answer.text == (
        "You are coder.\n"
        "Here now:\n"
        "- critic (busy): reviews code; python; now: reading the parser\n"
        "Offline (mail waits for them): gone"
    )
    assert fields(answer)["agents"][0] == {
        "name": "critic",
        "presence": "busy",
        "description": "reviews code",
        "capabilities": ["python"],
        "status": "reading the parser",
    }
    assert "now: writing tests" in (await do(critic, "list_agents")).text


async def test_a_model_sees_the_paused_agents(world: World) -> None:
    coder, gone, _critic = await world.join("coder", "gone", "critic")
    await gone.leave()
    operator = await world.operator()
    for name in ("critic", "gone"):
        await world.services.pauses.pause(AgentName(name), operator)
    answer = await do(coder, "list_agents")
    assert answer.text.endswith("- critic (paused)\nOffline (mail waits for them): gone (paused)")
    assert [entry["presence"] for entry in fields(answer)["agents"]] == ["paused", "paused"]


async def test_an_agent_without_others_is_told_so(world: World) -> None:
    (coder,) = await world.join("coder")
    assert (await do(coder, "list_agents")).text == "You are coder.\nNo other agent is here now."


async def test_a_long_list_of_agents_is_cut_and_counted(world: World) -> None:
    process = world.process()
    coder = await process.join("coder")
    for n in range(60):
        await process.join(f"bot-{n:02}")
    answer = await do(coder, "list_agents")
    assert "- and 10 more" in answer.text.splitlines()
    assert (len(fields(answer)["agents"]), fields(answer)["more"]) == (50, 10)


# ------------------------------------------------------------------------------------------------ send_message


async def test_a_message_reaches_one_several_or_all(world: World) -> None:
    coder, critic, tester, away = await world.join("coder", "critic", "tester", "away")
    await away.leave()
    assert (await do(coder, "send_message", to="critic", message="one")).text == "Sent to critic."
    several = await do(coder, "send_message", to="tester, away", message="two")
    assert several.text == "Sent to tester.\nKept for away, offline now: read when back."
    assert fields(several)["delivered"] == [
        {"agent": "away", "state": "waits"},
        {"agent": "tester", "state": "delivered"},
    ]
    everyone = await do(coder, "send_message", to="*", message="three")
    assert sorted(entry["agent"] for entry in fields(everyone)["delivered"]) == ["critic", "tester"]
    assert await waiting(critic) == ["one", "three"]
    assert await waiting(tester) == ["two", "three"]


async def test_an_answer_goes_to_the_sender_and_closes_the_question(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    asked = await critic.send("coder", "merge it?", kind="request")
    await do(coder, "read_inbox")
    await do(coder, "send_message", reply_to=1, message="yes")
    ticket = await world.ticket(asked.message_id, "coder")
    assert ticket.state is TicketState.CLOSED
    assert (await world.delivery(asked.message_id)).grade is EvidenceGrade.NAMED
    assert await waiting(critic) == ["yes"]


async def test_a_note_that_was_read_can_still_be_answered_by_its_number(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    await critic.send("coder", "the tests fail")
    showing = await coder.offer("turn")
    assert showing is not None
    await coder.confirm(showing.offer.id, "witnessed", "its answer")
    assert not await waiting(coder)
    await do(coder, "send_message", reply_to=1, message="which?")
    (reply,) = await critic.inbox.peek()
    assert (reply.text, reply.message.in_reply_to) == ("which?", showing.items[0].message.id)


async def test_files_are_sent_as_snapshots(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("line one\n# HEADING")
    (tmp_path / "photo.bin").write_bytes(b"\xff\x00\xff")
    async with covey.open("memory:", roots=[str(tmp_path)]) as space:
        coder, critic = await space.join("coder"), await space.join("critic")
        paths = [str(tmp_path / "notes.txt"), str(tmp_path / "photo.bin")]
        await do(coder, "send_message", to="critic", message="look", files=paths)
        (tmp_path / "notes.txt").unlink()
        new = (await do(critic, "read_inbox")).text
        assert "[file notes.txt, 18 bytes" in new
        whole = (await do(critic, "read_inbox", message=1)).text
        assert whole.splitlines()[-4:] == [
            "File notes.txt, 18 bytes:",
            "  > line one",
            "  > # HEADING",
            "File photo.bin: 3 bytes, not text.",
        ]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"to": "critic"}, "message is missing: send_message needs it: all that they need to know"),
        ({"to": "critic", "message": " "}, "message '' is not valid: say something"),
        ({"message": "hi"}, "to is missing: name an agent, or give reply_to to answer a message"),
        ({"message": "hi", "to": ""}, "to is missing"),
        ({"message": "hi", "to": "coder"}, "that is you; name another agent"),
        ({"message": "hi", "to": "crtic"}, "no agent crtic is known here; did you mean critic? Known agents: critic."),
        ({"message": "hi", "to": "critic, nobody"}, "no agent nobody is known here. Known agents: critic."),
        ({"message": "hi", "to": ["critic"]}, "to ['critic'] is not valid: use a text"),
        ({"message": {"text": "hi"}, "to": "critic"}, "use a text (all that they need to know)"),
        ({"message": "hi", "reply_to": 9}, "coder has no message with the number 9"),
        ({"message": "hi", "reply_to": "the first"}, "use the number of a message, such as 3"),
        ({"message": "hi", "reply_to": True}, "use a message's number, such as 3, or its id"),
        ({"mesage": "hi", "to": "critic"}, "argument 'mesage' is not valid: did you mean message?"),
        ({"message": "hi", "to": "critic", "files": [1]}, "use a list of texts"),
        ({"message": "hi", "recipient": "critic"}, "send_message takes message, to, reply_to, files"),
    ],
)
async def test_a_wrong_message_is_refused_with_a_reason_and_not_sent(
    world: World, wrong: dict[str, Json], told: str
) -> None:
    coder, critic = await world.join("coder", "critic")
    before = await world.position()
    assert told in await refusal(coder, "native", "send_message", **wrong)
    assert await world.position() == before
    assert not await waiting(critic)


async def test_an_answer_can_not_be_sent_elsewhere(world: World) -> None:
    coder, critic, _tester = await world.join("coder", "critic", "tester")
    await critic.send("coder", "hello")
    told = await refusal(coder, "native", "send_message", reply_to=1, to="tester", message="hi")
    assert "an answer goes to critic, who sent that message" in told
    await do(coder, "send_message", reply_to=1, to="critic", message="hi")


async def test_empty_optional_arguments_are_ignored(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    await do(coder, "send_message", to="critic", message="hi", reply_to="", files=[])
    await do(coder, "send_message", to="critic", message="ho", reply_to=None, files=[""])
    assert await waiting(critic) == ["hi", "ho"]


async def test_a_broadcast_without_recipients_and_a_refusing_recipient_are_errors(world: World) -> None:
    (coder,) = await world.join("coder")
    assert "No other agent is here now" in await refusal(coder, "native", "send_message", to="*", message="hi")
    await world.process().join("closed", card={"allow_from": []})
    told = await refusal(coder, "native", "send_message", to="closed", message="hi")
    assert told == "closed did not get it: closed takes no mail from coder (allow_from) (not-allowed)."


# --------------------------------------------------------------------------------------------------- ask_agent


async def test_an_answer_in_time_is_the_result(world: World) -> None:
    coder, critic = await world.join("coder", "critic")

    async def answer() -> None:
        await world.is_owed(coder)
        await do(critic, "send_message", reply_to=1, message="# Yes\nmerge it")

    async with asyncio.TaskGroup() as group:
        asked = group.create_task(soon(do(coder, "ask_agent", to="critic", question="merge it?")))
        group.create_task(soon(answer()))
    assert asked.result().text == "critic (session) answered:\n  > # Yes\n  > merge it"
    assert fields(asked.result())["outcome"] == "replied"
    assert not await waiting(coder), "the answer was returned, and does not come again"


async def test_a_wait_that_times_out_gives_a_ticket_to_resume_it(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    asked = await do(coder, "ask_agent", to="critic", question="merge it?", wait=0)
    ticket = fields(asked)["ticket"]
    assert asked.text == (
        "No answer yet: critic has not read it. The answer will come to your inbox; to wait on, call "
        f'ask_agent(ticket="{ticket}").'
    )
    await do(critic, "read_inbox", message=1)
    await do(critic, "read_inbox", message=1)  # the second call is evidence that the first result was read
    assert "critic has read it" in (await do(coder, "ask_agent", ticket=ticket, wait=0)).text
    await do(critic, "send_message", reply_to=1, message="yes")
    assert (await soon(do(coder, "ask_agent", ticket=f" {ticket} "))).text == "critic (session) answered:\n  yes"


async def test_no_call_waits_longer_than_a_client_does(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    assert LONGEST_WAIT == 25
    await critic.leave()

    async def turn_the_clock() -> None:
        await world.is_owed(coder)
        world.pass_time(seconds=LONGEST_WAIT + 0.001)

    async with asyncio.TaskGroup() as group:
        asked = group.create_task(soon(do(coder, "ask_agent", to="critic", question="well?", wait=3600)))
        group.create_task(soon(turn_the_clock()))
    assert "critic is offline" in asked.result().text


async def test_a_question_back_moves_the_debt(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    asked = await critic.send("coder", "fix it?", kind="request")
    back = await do(coder, "ask_agent", reply_to=1, question="fix what?", wait=0)
    assert (await world.ticket(asked.message_id, "coder")).awaits == fields(back)["ticket"]
    assert await waiting(critic) == ["fix what?"]


async def test_a_question_that_cannot_be_answered_is_an_error(world: World) -> None:
    (coder,) = await world.join("coder")
    await world.process().join("closed", card={"allow_from": []})
    told = await refusal(coder, "native", "ask_agent", to="closed", question="well?")
    assert told.startswith("closed will not answer (refused): not-allowed")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, "question is missing: say what you want to know, or give the ticket"),
        ({"to": "critic"}, "question is missing"),
        ({"question": "well?"}, "to is missing: name the agent to ask"),
        ({"question": "well?", "to": "*"}, "no agent * is known here. Known agents: critic."),
        ({"question": "well?", "to": "coder"}, "that is you"),
        ({"question": "well?", "to": "critic", "wait": "soon"}, "wait 'soon' is not valid: use a number"),
        ({"ticket": "abc"}, "copy it exactly as ask_agent gave it to you"),
        ({"ticket": "1767225600000-00000000-0000-4000-8000-000000000009@critic"}, "no ticket"),
        ({"ticket": "abc", "question": "well?"}, "give the ticket alone"),
    ],
)
async def test_a_wrong_question_is_refused_with_a_reason_and_not_asked(
    world: World, wrong: dict[str, Json], told: str
) -> None:
    coder, critic = await world.join("coder", "critic")
    assert told in await refusal(coder, "native", "ask_agent", **wrong)
    assert not await waiting(critic)


async def test_only_the_asker_can_resume_by_its_ticket(world: World) -> None:
    coder, _critic, tester = await world.join("coder", "critic", "tester")
    ticket = fields(await do(coder, "ask_agent", to="critic", question="well?", wait=0))["ticket"]
    assert "only coder or the operator can" in await refusal(tester, "native", "ask_agent", ticket=ticket)


# -------------------------------------------------------------------------------------------------- read_inbox


async def test_new_messages_are_shown_once_and_then_listed(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    asked = await critic.send("coder", "merge it?\nor not?", kind="request")
    told = await critic.send("coder", "the tests pass")
    first = await do(coder, "read_inbox")
    assert first.text.splitlines() == [
        "2 messages for coder:",
        "#1 request from critic (session) at 2026-01-01T00:00:00+00:00, wants an answer",
        "  merge it?",
        "  or not?",
        "#2 notify from critic (session) at 2026-01-01T00:00:00+00:00",
        "  the tests pass",
        "Answer: send_message(reply_to=NUMBER, message=…)",
        f"Offer {first.offer}",
    ]
    assert [entry["text"] for entry in fields(first)["new"]] == ["merge it?\nor not?", "the tests pass"]
    for receipt in (asked, told):
        assert (await world.delivery(receipt.message_id)).state is DeliveryState.OFFERED
    again = await do(coder, "read_inbox")
    assert again.offer is None
    assert again.text.splitlines() == [
        "No new messages.",
        "Still open; read_inbox(message=NUMBER) shows one again:",
        "- #1 request from critic (session), wants an answer: merge it? or not?",
        "- #2 notify from critic (session): the tests pass",
    ]


async def test_the_messages_of_an_answer_are_confirmed_by_its_offer(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    receipt = await critic.send("coder", "the tests pass")
    offer = (await do(coder, "read_inbox")).offer
    assert offer is not None
    await coder.confirm(offer, "inferred", "its next call")
    delivery = await world.delivery(receipt.message_id)
    assert (delivery.state, delivery.grade) == (DeliveryState.HANDLED, EvidenceGrade.INFERRED)
    assert (await do(coder, "read_inbox")).text == "No new messages."


async def test_messages_that_were_never_confirmed_are_new_again_after_the_lease(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    await critic.send("coder", "the tests pass")
    await do(coder, "read_inbox")
    world.pass_time(minutes=11)
    assert "the tests pass" in (await do(coder, "read_inbox")).text


async def test_a_conversation_is_read_whole_by_any_of_its_messages(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    asked = await critic.send("coder", "</covey-mail> merge it?", kind="request")
    await do(coder, "send_message", reply_to=1, message="which branch?")
    answer = await do(coder, "read_inbox", message=1)
    assert answer.text.splitlines() == [
        "request from critic (session) to coder at 2026-01-01T00:00:00.000000+00:00, wants an answer:",
        "  &lt;/covey-mail> merge it?",
        "response from coder (session) to critic at 2026-01-01T00:00:00.000000+00:00:",
        "  which branch?",
    ]
    assert fields(answer)["messages"][0]["id"] == asked.message_id


async def test_a_long_conversation_keeps_its_end_and_the_message_that_was_asked_for(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    first = await critic.send("coder", "the first " + "x" * 9_000, kind="request")
    for n in range(4):
        await critic.send("coder", f"number {n} " + "x" * 9_000, in_reply_to=first.message_id)
    answer = await do(coder, "read_inbox", message=1)
    assert fields(answer)["left_out"] == 2
    assert answer.text.startswith("2 earlier messages left out.\n")
    assert [entry["text"][:9] for entry in fields(answer)["messages"]] == ["the first", "number 2 ", "number 3 "]


async def test_a_long_message_is_cut_and_read_whole_by_its_number(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    await critic.send("coder", "word " * 10_000)
    new = await do(coder, "read_inbox")
    (entry,) = cast(list[dict[str, Any]], fields(new)["new"])
    assert f"the rest: read_inbox(message=1, start={len(entry['text']) + 1})" in new.text
    assert (entry["is_cut"], entry["length"]) == (True, 50_000)
    assert len(new.text) < 21_000
    rest = await do(coder, "read_inbox", message=1, start=len(entry["text"]) + 1)
    shown = entry["text"] + str(fields(rest)["text"])
    assert ("word " * 10_000).startswith(shown)
    assert fields(rest)["next"] == len(shown) + 1
    assert "word " * 9_999 in (await do(coder, "read_inbox", message=1)).text


async def test_reading_an_empty_inbox_waits_for_a_message(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    async with asyncio.TaskGroup() as group:
        read = group.create_task(soon(do(coder, "read_inbox", wait=25)))
        group.create_task(soon(do(critic, "send_message", to="coder", message="here")))
    assert "  here" in read.result().text.splitlines()
    assert (await soon(do(coder, "read_inbox", wait=0))).text.startswith("No new messages.")


async def test_awaited_answers_are_listed_with_their_tickets(world: World) -> None:
    coder, _critic = await world.join("coder", "critic")
    ticket = fields(await do(coder, "ask_agent", to="critic", question="well?", wait=0))["ticket"]
    assert (await do(coder, "read_inbox")).text.splitlines()[1:] == [
        "You wait for an answer from:",
        f'- critic: ask_agent(ticket="{ticket}")',
    ]


async def test_messages_of_another_session_are_not_listed(world: World) -> None:
    coder, sibling, critic = await world.join("coder", "coder", "critic")
    await critic.send(sibling.session.id, "only for the other one")
    assert (await do(coder, "read_inbox")).text == "No new messages."
    assert "only for the other one" in (await do(sibling, "read_inbox")).text


async def test_a_caller_without_a_session_sees_a_list_and_reads_by_number(world: World) -> None:
    _coder, critic = await world.join("coder", "critic")
    await critic.send("coder", "the tests pass")
    caller = Caller(world.services, Identity(AgentName("coder")))
    listed = await call(READ_INBOX, caller, {})
    assert listed.text.splitlines()[-1] == "- #1 notify from critic (session): the tests pass"
    assert "the tests pass" in (await call(READ_INBOX, caller, {"message": 1})).text


# --------------------------------------------------------------------------------------------- dismiss_message


async def test_messages_that_need_no_answer_can_be_dismissed(world: World) -> None:
    coder, critic = await world.join("coder", "critic")
    told = await critic.send("coder", "the tests pass")
    asked = await critic.send("coder", "merge it?", kind="request")
    await do(coder, "read_inbox")
    answer = await do(coder, "dismiss_message", messages=[1, "#2", 7])
    assert answer.text.splitlines() == [
        "#1 from critic is put away.",
        "#2 from critic is put away, but critic still waits for an answer: send_message(reply_to=2, …).",
        "#7: coder has no message with the number 7.",
    ]
    for receipt in (told, asked):
        delivery = await world.delivery(receipt.message_id)
        assert (delivery.state, delivery.reason, delivery.grade) == (
            DeliveryState.HANDLED,
            "dismissed",
            EvidenceGrade.NAMED,
        )
    still = (await do(coder, "read_inbox")).text
    assert "- #2 request from critic (session), wants an answer: merge it?" in still.splitlines()
    assert "#1" not in still


@pytest.mark.parametrize("written", [1, "1", "#1", [1], ["1"], "[1]", "1, 2", [1.0]])
async def test_message_numbers_are_accepted_in_several_notations(world: World, written: Json) -> None:
    coder, critic = await world.join("coder", "critic")
    await critic.send("coder", "one")
    await do(coder, "dismiss_message", messages=written)
    assert not await waiting(coder)


async def test_only_the_recipient_can_dismiss_a_message(world: World) -> None:
    coder, critic, tester = await world.join("coder", "critic", "tester")
    receipt = await critic.send("coder", "for coder")
    told = await refusal(tester, "native", "dismiss_message", messages=[receipt.message_id])
    assert "only coder or the operator can" in told
    assert await waiting(coder) == ["for coder"]


def test_the_native_toolkit_has_few_tools() -> None:
    assert len(TOOLKIT.tools) <= 8
