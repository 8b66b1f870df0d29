"""Injection of pending mail into the messages of one request: at the end, once, in a form that is valid there.

The form is a call of the broadcast tool with its result if possible, and otherwise text in the user's last turn. The
caller's list is not changed.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from covey.core.attention import Pending
from covey.core.compact import to_json
from covey.core.inject_call import call_and_result, call_id, is_declared, is_ours
from covey.core.inject_pieces import Pieces, Provider, Who
from covey.core.inject_place import end_of, text_place
from covey.core.inject_text import has_text, new_message, with_text, without_text
from covey.core.offer import Presentation
from covey.core.render import Style, framed
from covey.core.render_broadcast import broadcast_output

Thinking = bool | Mapping[str, object] | None
"""The thinking option of a request: on or off, or the provider's own data."""


class Form(StrEnum):
    """The form of an injection."""

    NOTHING = "nothing"
    CALL = "call"
    """A tool call that the model did not make, with its result."""
    TEXT = "text"
    """Text in the user's last turn."""


class Injected(NamedTuple):
    """The messages of a request with the pending mail."""

    messages: list[Any]
    form: Form
    why: str = ""
    """The reason for the form TEXT: a tool call would have been invalid."""


def inject(
    messages: Sequence[object],
    pending: Pending,
    *,
    provider: Provider,
    tools: Sequence[object] = (),
    thinking: Thinking = False,
    style: Style | None = None,
) -> Injected:
    """Return a copy of `messages` with the pending mail at its end. It replaces an earlier injection there.

    `tools` are the tools of the request, as names or descriptions. `style` is the style of a text: by default that of
    the broadcast tool if it is declared, otherwise the block of peer messages.

    With `UNTIL_HANDLED`, earlier injections in the list are removed too; with `ONCE`, they stay in place.
    """
    everywhere = pending.presentation is Presentation.UNTIL_HANDLED
    result = take_out(messages, provider=provider, everywhere=everywhere)
    if not pending.is_worth_showing:
        return Injected(result, Form.NOTHING)
    pieces = Pieces(result, provider)
    declared = is_declared(tools)
    why = _why_text(pieces, declared, thinking)
    if not why:
        content = to_json(broadcast_output(pending))
        return Injected([*result, *call_and_result(call_id(pending.offer), content, provider)], Form.CALL)
    text = framed(pending, style or (Style.BROADCAST if declared else Style.PEERS))
    if not text:
        return Injected(result, Form.NOTHING)
    _put_text(result, pieces, text, provider)
    return Injected(result, Form.TEXT, why)


def take_out(messages: Sequence[object], *, provider: Provider, everywhere: bool = False) -> list[Any]:
    """Return a copy of `messages` without the injection at its end, as the list was before.

    With `everywhere`, remove earlier injections too, back to the model's last thought: some models refuse a thought if
    the messages before it have changed.
    """
    result = list(messages)
    while is_ours(result, len(result) - 2, provider):
        del result[-2:]
    place = text_place(Pieces(result, provider))
    if not place.is_new and has_text(result[place.at]):
        _remove_text(result, place.at)
    if everywhere:
        _take_out_earlier(result, provider)
    return result


def _take_out_earlier(result: list[Any], provider: Provider) -> None:
    pieces = Pieces(result, provider)
    for at in range(len(result) - 1, -1, -1):
        piece = pieces[at]
        if piece.thinks:
            return
        if piece.calls and is_ours(result, at, provider):
            del result[at : at + 2]
        elif piece.who is Who.USER and has_text(result[at]):
            _remove_text(result, at)


def _why_text(pieces: Pieces, declared: bool, thinking: Thinking) -> str:
    """Return the reason why a call would be invalid; empty if it is valid."""
    end = end_of(pieces)
    if not declared:
        return "the broadcast tool is not declared"
    if _is_on(thinking) or end.thinks:
        return "thinking is on"
    if end.open_from is not None:
        return "a tool call is open"
    if end.begun_from is not None:
        return "the answer has begun"
    return "" if len(pieces) else "there is no message yet"


def _is_on(thinking: Thinking) -> bool:
    if isinstance(thinking, Mapping):
        return thinking.get("type") != "disabled" and thinking.get("effort") != "none"
    return bool(thinking)


def _put_text(result: list[Any], pieces: Pieces, text: str, provider: Provider) -> None:
    place = text_place(pieces)
    message = None if place.is_new else with_text(result[place.at], text, provider)
    if message is not None:
        result[place.at] = message
    else:
        result.insert(place.at if place.is_new else place.at + 1, new_message(text))


def _remove_text(result: list[Any], at: int) -> None:
    message = without_text(result[at])
    if message is None:
        del result[at]
    else:
        result[at] = message
