"""Roles of real processes in a scenario: a process opens the space, prints `ready`, waits for a line, and plays its
role."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping

import covey
from covey.core.identity import Identity
from covey.core.names import SPACE, parse_message_id, parse_session_id
from covey.surfaces.python.member import Member
from covey.surfaces.python.space import Space
from tests.scenarios.modelled import agent

FOR_EVER = 60.0


def tell(result: object) -> None:
    """Print a result at once, so that it is not lost in a kill."""
    print(json.dumps(result), flush=True)


def wait_for_a_line() -> None:
    sys.stdin.readline()


async def register(space: Space, first: str, count: str) -> None:
    """Register agents and send heartbeats, all at once, and stay until a line arrives."""

    async def live(number: int) -> None:
        member = await space.join(f"bot-{number}", card={"description": f"number {number}"})
        for _ in range(3):
            await member.heartbeat()

    await asyncio.gather(*(live(int(first) + n) for n in range(int(count))))
    tell("registered")
    wait_for_a_line()


async def nameless(space: Space, count: str) -> None:
    """Join without a name, several times at once."""
    members = await asyncio.gather(*(space.join() for _ in range(int(count))))
    tell([member.name for member in members])


async def send(space: Space, name: str, count: str) -> None:
    """Send to bob, all messages at once."""
    member = await space.join(name)
    receipts = await asyncio.gather(*(member.send("bob", f"{name} {n}") for n in range(int(count))))
    tell([receipt.message_id for receipt in receipts])


async def stay(space: Space, name: str) -> None:
    """Join, and stay until a line arrives."""
    member = await space.join(name)
    tell(member.session.id)
    wait_for_a_line()


async def adopt(space: Space) -> None:
    """Join as bob, and print the texts of the pending messages."""
    member = await space.join("bob")
    tell([delivery.text for delivery in await member.inbox.peek()])
    wait_for_a_line()


async def ask(space: Space, message_id: str) -> None:
    """Ask bob, and wait without a practical limit."""
    member = await space.join("alice")
    outcome = await member.ask("bob", "shall I?", timeout=FOR_EVER, id=message_id)
    tell(outcome.kind)


async def request(space: Space, message_id: str) -> None:
    """Ask bob for an approval, and wait without a practical limit."""
    member = await space.join("alice")
    approval = await member.request_approval("bob", "plan", "the plan", timeout=FOR_EVER, id=message_id)
    tell([approval.state, approval.reason])


async def decide(space: Space, message_id: str, word: str) -> None:
    """Approve or reject from a new session of bob."""
    member = await space.join("bob")
    try:
        await (member.approve(message_id) if word == "approved" else member.reject(message_id, "no"))
    except covey.CoveyError as error:
        tell(error.code)
    else:
        tell(word)


async def archive(space: Space, session_id: str, secret: str, message_id: str) -> None:
    """Archive on behalf of the session with this secret."""
    who = await _who(space, session_id, secret)
    try:
        await space.services.dialogue.archive(parse_message_id(message_id), who)
    except covey.CoveyError as error:
        tell(error.code)
    else:
        tell("archived")


async def claim(space: Space, name: str) -> None:
    """Offer the pending messages of an agent to a new session, and keep the offer."""
    member: Member = await space.join(name)
    tell(await member.offer("turn") is not None)
    wait_for_a_line()


async def polite(space: Space, name: str, peer: str, text: str) -> None:
    """Play a model that answers every message with thanks, without naming what it answers, until a notice of the space
    arrives. Print the number of accepted messages and the notices."""
    member = await space.join(name)
    tell("here")
    wait_for_a_line()
    sent, notices, tools = 0, list[str](), member.tools("peers")
    while not notices:
        await member.pending(timeout=FOR_EVER)
        async with member.turn() as turn:
            turn.text()
            turn.responded("r")
        notices = [letter.text for letter in turn.pending.letters if letter.sender.agent == SPACE]
        if any(letter.sender.agent == peer for letter in turn.pending.letters):
            answer = await tools.call("send_to_peer", {"to": peer, "message": text})
            sent += not answer.is_error
    tell([sent, *notices])


async def chat(space: Space, name: str, peer: str) -> None:
    """Answer each message of a peer with a new message, without naming what it answers, until one is refused or a
    notice of the space arrives. Print the number of accepted messages."""
    member = await space.join(name)
    sent = 0
    try:
        while True:
            await member.send(peer, f"step {sent}")
            sent += 1
            heard = await member.inbox.next(timeout=FOR_EVER)
            if heard is None or heard.message.sender.agent == SPACE:
                break
    except covey.CoveyError as error:
        if error.code != "exchange-storm":
            raise
    tell(sent)


async def ask_on(space: Space, name: str, to: str) -> None:
    """Ask an agent, and wait without a practical limit."""
    member = await space.join(name)
    try:
        tell((await member.ask(to, "shall I?", timeout=FOR_EVER)).kind)
    except covey.CoveyError as error:
        tell([error.code, error.details["path"]])


async def _who(space: Space, session_id: str, secret: str) -> Identity:
    return await space.services.identities.by_secret(parse_session_id(session_id), secret)


Role = Callable[..., Awaitable[None]]
ROLES: Mapping[str, Role] = {
    r.__name__: r
    for r in (register, nameless, send, stay, adopt, ask, request, decide, archive, claim, polite, chat, ask_on, agent)
}


async def play(role: str, url: str, *arguments: str) -> None:
    async with covey.open(url) as space:
        tell("ready")
        wait_for_a_line()
        await ROLES[role](space, *arguments)


def main() -> None:
    asyncio.run(play(*sys.argv[1:]))
