"""Waits: the cost of an ask that has to check for a circle of waits, with many open questions."""

import time
from pathlib import Path

from bench.figures import Row, ms, percentile
from covey.core.coroutine import finish
from covey.core.directory.card import Agent, Card
from covey.core.errors import WaitCircle
from covey.core.identity import Address, AddressKind
from covey.core.ledger.draft import Draft
from covey.core.ledger.message import Kind, TextPart
from covey.core.ledger.ticket import Ticket, TicketState
from covey.core.ledger.waits import Wait
from covey.core.names import AgentName, MessageId, ticket_id
from covey.engines import connect_inline, locate
from covey.ports.store import Transaction
from covey.services.mail.recipients import SendPolicy
from covey.services.space import Services

REPEATS = 30
LONG = 3_600.0


def _agent(n: int) -> AgentName:
    return AgentName(f"agent{n}")


class Chain:
    """A space with a chain of agents, each of which asks the next. The first `waiting` of them wait for the answer."""

    def __init__(self, folder: Path, count: int, *, waiting: int) -> None:
        self._ports = connect_inline(locate(f"sqlite:{folder}/{count}-{waiting}/covey.db?synchronous=normal"), [])
        self._services = Services(self._ports)
        self._count = count
        for begin in range(0, count + 1, 1_000):
            numbers = range(begin, min(begin + 1_000, count + 1))
            finish(self._ports.store.commit(lambda tx, numbers=numbers: self._fill(tx, numbers, waiting), is_long=True))

    async def _fill(self, tx: Transaction, numbers: range, waiting: int) -> None:
        now = self._services.clock.now()
        for n in numbers:
            await tx.agents.put(Agent(_agent(n), Card(), now))
            if n < self._count:
                asked = MessageId(f"{1_700_000_000_000 + n}-00000000-0000-4000-8000-{n:012}")
                ticket = ticket_id(asked, _agent(n + 1))
                await tx.tickets.put(
                    Ticket(ticket, asked, asked, _agent(n), _agent(n + 1), TicketState.OPEN, opened_at=now)
                )
                if n < waiting:
                    until = now.replace(year=now.year + 1)
                    await tx.waits.put(Wait(_agent(n), ticket, None, now, until))

    def ask(self, asker: int, awaited: int) -> float:
        """Return the median duration of an ask. An ask that would close a circle is refused."""
        actor = self._services.identities.claim(_agent(asker))
        to = (Address(AddressKind.AGENT, _agent(awaited)),)
        took: list[float] = []
        for _ in range(REPEATS):
            draft = Draft(Kind.REQUEST, to, (TextPart("which one?"),), expects_reply=True)
            began = time.perf_counter()
            try:
                receipt = finish(self._services.mail.send(draft, actor, SendPolicy(waits=LONG)))
            except WaitCircle:
                took.append(time.perf_counter() - began)
            else:
                took.append(time.perf_counter() - began)
                finish(self._services.waits.end(ticket_id(receipt.message_id, _agent(awaited)), actor))
        return percentile(took, 0.5)

    def close(self) -> None:
        finish(self._ports.close())


def waits(folder: Path, count: int) -> Row:
    none, short, long, idle = (
        Chain(folder, 1, waiting=0),
        Chain(folder, count // 10, waiting=count // 10),
        Chain(folder, count, waiting=count),
        Chain(folder, count + 1, waiting=0),
    )
    alone = none.ask(1, 0)
    # The last agent asks the first: the check follows the whole chain and finds the circle.
    tenth, whole = short.ask(count // 10, 0), long.ask(count, 0)
    beside = idle.ask(count, 0)
    for chain in (none, short, long, idle):
        chain.close()
    return Row(
        f"ask that looks for a circle, {count:,} open tickets",
        f"{ms(beside)} where nobody waits; {ms(whole)} along a chain of {count:,}, {ms(tenth)} of {count // 10:,}",
        f"{beside / alone:.2f} × an ask in an empty space; ten times the chain {whole / tenth:.1f} ×",
        "reported; not quadratic (10 ×)",
        {"alone": alone, "beside": beside, "tenth": tenth, "whole": whole},
    )
