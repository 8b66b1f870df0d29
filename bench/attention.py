"""Injection: put 64 messages into a request of 500 messages, compared with writing that request as JSON."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.figures import Row, ms, percentile
from covey.core.attention.injection import InjectionForm, inject
from covey.core.attention.pending import Letter, OmittedCounts, OtherAgent, Pending
from covey.core.attention.provider_messages import Provider
from covey.core.attention.selection import fit_letters, fit_others
from covey.core.directory.card import Presence
from covey.core.identity import Grade, Identity
from covey.core.ledger.message import Kind
from covey.core.ledger.offer import Presentation
from covey.core.names import AgentName, MessageId, OfferId, delivery_id
from covey.core.text.escape import harmless

LETTERS = 64
LENGTH = 500
BODY = "The parser is done, and the tests of the lexer are green: see commit 4f2a9c.\n" * 3
BUDGET = 64_000
"""Large enough for all letters."""

TOOLS = ["search", "broadcast"]


def history() -> list[Any]:
    """Return a conversation as the loop of an agent keeps it: text, tool calls and their results."""
    messages: list[Any] = []
    for turn in range(LENGTH // 4):
        use = {"type": "tool_use", "id": f"toolu_{turn}", "name": "search", "input": {"words": f"parser {turn}"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": "x" * 400}
        messages += [
            {"role": "user", "content": f"Step {turn}: " + "please go on with the next file. " * 8},
            {"role": "assistant", "content": [{"type": "text", "text": "I shall look for it. " * 8}, use]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": "It is where it should be. " * 8},
        ]
    return [*messages[:-1], {"role": "user", "content": "And now?"}]


def letters() -> list[Letter]:
    """Return the letters that wait for the agent."""
    made: list[Letter] = []
    for number in range(1, LETTERS + 1):
        message_id = MessageId(f"1794743386505-00000000-0000-4000-8000-{number:012}")
        made.append(
            Letter(
                number,
                message_id,
                delivery_id(message_id, 1),
                Identity(AgentName(f"agent{number % 7}"), None, Grade.SESSION),
                Kind.NOTIFY,
                datetime(2026, 4, 30, 14, tzinfo=UTC),
                f"{number}: {BODY}",
                len(f"{number}: {BODY}"),
            )
        )
    return made


def chosen(waiting: list[Letter]) -> Pending:
    """Return the pending letters of a turn: sanitized, measured and fitted into the budget."""
    harmless.cache_clear()
    others = tuple(OtherAgent(AgentName(f"agent{n}"), Presence.IDLE, "Working on the parser") for n in range(7))
    offer = OfferId("7a3b2f00-0000-4000-8000-000000000001")
    around = Pending(AgentName("bob"), left_out=OmittedCounts(LETTERS), others=others, offer=offer)
    return fit_letters(fit_others(around, BUDGET), waiting, BUDGET)


def median(call: Callable[[], object], repeats: int) -> float:
    """Return the median duration of a call."""
    took: list[float] = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    return percentile(took, 0.5)


def injection(_folder: Path, repeats: int) -> Row:
    messages, waiting = history(), letters()
    pending = chosen(waiting)
    assert len(pending.letters) == LETTERS

    def put(tools: list[str], presentation: Presentation = Presentation.ONCE) -> InjectionForm:
        shown = pending._replace(presentation=presentation)
        return inject(messages, shown, provider=Provider.ANTHROPIC, tools=tools).form

    assert (put(TOOLS), put([])) == (InjectionForm.CALL, InjectionForm.TEXT)
    written = median(lambda: json.dumps(messages), repeats)
    raw = {
        "choosing": median(lambda: chosen(waiting), repeats),
        "call": median(lambda: put(TOOLS), repeats),
        "text": median(lambda: put([]), repeats),
        "everywhere": median(lambda: put(TOOLS, Presentation.UNTIL_HANDLED), repeats),
        "written": written,
        "copied": median(lambda: list(messages), repeats),
    }
    figure = (
        f"as a call {ms(raw['call'])}, as text {ms(raw['text'])}, with earlier ones taken out {ms(raw['everywhere'])}",
        f"choosing them for the budget {ms(raw['choosing'])}",
        f"writing the list as JSON {ms(written)}",
    )
    return Row(
        f"injection of {LETTERS} messages into a list of {LENGTH}",
        "; ".join(figure),
        f"{raw['call'] / written:.2f} × writing the list as JSON",
        "reported",
        raw,
    )
