"""Injection of pending mail into the messages of one request: at the end, once, in a form that is valid there.

The form is a call of the broadcast tool with its result if possible, and otherwise text in the user's last turn.
Earlier calls are recognised and removed. The caller's list is not changed.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, cast

from covey.core.attention.pending import Pending
from covey.core.attention.provider_messages import MessageItems, Provider, Speaker, blocks, field, sequence
from covey.core.attention.styles import FRAME_BEGIN, FRAME_END, INPUT, TOOL, RenderingStyle, broadcast_output, framed
from covey.core.json import to_json
from covey.core.ledger.offer import Presentation

_MARK: Final = "cvy_"
"""The prefix of the ids of injected calls. With the id of an offer, an id has 40 characters, which every provider
accepts."""

_NO_OFFER: Final = "00000000-0000-0000-0000-000000000000"


def call_id(offer: str | None) -> str:
    """Return the id of the call that shows an offer. In a transcript, the id proves that the offer was shown."""
    return _MARK + (offer or _NO_OFFER)


def call_and_result(use_id: str, result: str, provider: Provider) -> list[dict[str, Any]]:
    """Return a call and its result as two items in the provider's format."""
    if provider is Provider.ANTHROPIC:
        use = {"type": "tool_use", "id": use_id, "name": TOOL, "input": dict(INPUT)}
        answer = {"type": "tool_result", "tool_use_id": use_id, "content": result}
        return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [answer]}]
    arguments = to_json(INPUT)
    if provider is Provider.OPENAI:
        call = {"id": use_id, "type": "function", "function": {"name": TOOL, "arguments": arguments}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": use_id, "content": result},
        ]
    return [
        {"type": "function_call", "call_id": use_id, "name": TOOL, "arguments": arguments},
        {"type": "function_call_output", "call_id": use_id, "output": result},
    ]


def is_ours(items: Sequence[object], at: int, provider: Provider) -> bool:
    """Tell whether the item at this place is an injected call, and the next one its result."""
    if not 0 <= at < len(items) - 1:
        return False
    use_id = _use_id(items[at], provider)
    return isinstance(use_id, str) and use_id.startswith(_MARK) and _result_id(items[at + 1], provider) == use_id


def _use_id(item: object, provider: Provider) -> object:
    if provider is Provider.ANTHROPIC:
        return _only(blocks(item), "tool_use", "id")
    if provider is Provider.OPENAI:
        return _only(sequence(field(item, "tool_calls")), "function", "id")
    return field(item, "call_id") if field(item, "type") == "function_call" else None


def _result_id(item: object, provider: Provider) -> object:
    if provider is Provider.ANTHROPIC:
        return _only(blocks(item), "tool_result", "tool_use_id")
    if provider is Provider.OPENAI:
        return field(item, "tool_call_id")
    return field(item, "call_id") if field(item, "type") == "function_call_output" else None


def _only(parts: Sequence[object], kind: str, name: str) -> object:
    """Return a field of the part if it is the only one and of that kind; otherwise None."""
    return field(parts[0], name) if len(parts) == 1 and field(parts[0], "type") == kind else None


def is_declared(tools: Sequence[object]) -> bool:
    """Tell whether a request declares the broadcast tool, by name or by a description in any provider's format."""
    return any(tool == TOOL or field(tool, "name") == TOOL or _function_name(tool) == TOOL for tool in tools)


def _function_name(tool: object) -> object:
    function = field(tool, "function")
    return None if function is None else field(function, "name")


class RequestEnd(NamedTuple):
    """The state of a list at its end."""

    open_from: int | None
    """The index of the first tool call without a result, or None."""
    begun_from: int | None
    """The index at which the model's unfinished answer (a prefill) begins, or None."""
    thinks: bool
    """True if the model thought in its last turn: its next answer goes on from there."""


class TextPlace(NamedTuple):
    """The place for a text."""

    at: int
    is_new: bool
    """True to insert a new message of the user at this index, False to add the text to the message there."""


def end_of(pieces: MessageItems) -> RequestEnd:
    """Return the state of the list after the last turn of the model."""
    answered: set[str] = set()
    open_from = begun_from = None
    thinks = False
    for at in range(len(pieces) - 1, -1, -1):
        piece = pieces[at]
        answered |= piece.results
        if piece.calls - answered:
            open_from = at
        if piece.who is Speaker.MODEL:
            thinks = thinks or piece.thinks
            if at == len(pieces) - 1 or begun_from == at + 1:
                begun_from = at
        elif piece.who is Speaker.USER and not piece.results:
            break
    return RequestEnd(open_from, begun_from, thinks)


def text_place(pieces: MessageItems) -> TextPlace:
    """Return the place for a text: in the last message of the user if only messages of the system follow, otherwise in
    a new message of the user at the end. An open call or an unfinished answer must stay last, so the text goes before
    it."""
    open_from, begun_from, _ = end_of(pieces)
    limits = [at for at in (open_from, begun_from) if at is not None]
    limit = min(limits, default=len(pieces))
    user = next((at for at in range(limit - 1, -1, -1) if pieces[at].who is Speaker.USER), None)
    if user is not None and (limits or all(pieces[at].who is Speaker.SYSTEM for at in range(user + 1, limit))):
        return TextPlace(user, is_new=False)
    while limits and limit > 0 and pieces[limit - 1].who in (Speaker.MODEL, Speaker.TOOL):
        limit -= 1
    return TextPlace(limit, is_new=True)


_GAP: Final = "\n\n"
"""The separator between the user's words and the injected text. A message that was made for the text has none."""

_TEXT: Final = {
    Provider.ANTHROPIC: "text",
    Provider.OPENAI: "text",
    Provider.OPENAI_RESPONSES: "input_text",
}


def new_message(text: str) -> dict[str, Any]:
    """Return a message of the user with only this text."""
    return {"role": "user", "content": text}


def with_text(message: object, text: str, provider: Provider) -> dict[str, Any] | None:
    """Return a copy of a message with text at its end; None if text can't be added to its content."""
    if not isinstance(message, Mapping):
        return None
    fields = cast(Mapping[str, object], message)
    content = fields.get("content")
    if isinstance(content, str):
        return {**fields, "content": f"{content}{_GAP}{text}"}
    if isinstance(content, list | tuple):
        added = {"type": _TEXT[provider], "text": text}
        parts = blocks(fields)
        return {**fields, "content": [*parts, added] if isinstance(content, list) else (*parts, added)}
    return None


def has_text(message: object) -> bool:
    """Tell whether a message of the user ends with an injected text. A model's repetition of the text does not
    count."""
    if not isinstance(message, Mapping):
        return False
    fields = cast(Mapping[str, object], message)
    content = fields.get("content")
    if fields.get("role") != "user":
        return False
    if isinstance(content, str):
        return content.endswith(FRAME_END) and (_is_alone(content) or _GAP + FRAME_BEGIN in content)
    parts = blocks(fields)
    return bool(parts) and _is_ours(parts[-1])


def without_text(message: object) -> dict[str, Any] | None:
    """Return a copy of a message without its injected text; None if the message was made for the text."""
    fields = cast(Mapping[str, object], message)
    content = fields["content"]
    if not isinstance(content, str):
        return {**fields, "content": blocks(fields)[:-1]}
    if _is_alone(content):
        return None
    # The injected text does not contain the begin mark again, so the last mark is its beginning.
    return {**fields, "content": content[: content.rindex(_GAP + FRAME_BEGIN)]}


def _is_alone(content: str) -> bool:
    return content.startswith(FRAME_BEGIN) and content.count(FRAME_BEGIN) == 1


def _is_ours(block: object) -> bool:
    text = field(block, "text")
    return isinstance(text, str) and text.startswith(FRAME_BEGIN) and text.endswith(FRAME_END)


Thinking = bool | Mapping[str, object] | None
"""The thinking option of a request: on or off, or the provider's own data."""


class InjectionForm(StrEnum):
    """The form of an injection."""

    NOTHING = "nothing"
    CALL = "call"
    """A tool call that the model did not make, with its result."""
    TEXT = "text"
    """Text in the user's last turn."""


class Injected(NamedTuple):
    """The messages of a request with the pending mail. True if there was mail to put into them."""

    messages: list[Any]
    form: InjectionForm
    why: str = ""
    """The reason for the form TEXT: a tool call would have been invalid."""

    def __bool__(self) -> bool:
        """True if the messages have mail in them now."""
        return self.form is not InjectionForm.NOTHING


def inject(
    messages: Sequence[object],
    pending: Pending,
    *,
    provider: Provider,
    tools: Sequence[object] = (),
    thinking: Thinking = False,
    style: RenderingStyle | None = None,
) -> Injected:
    """Return a copy of `messages` with the pending mail at its end. It replaces an earlier injection there.

    `tools` are the tools of the request, as names or descriptions. `style` is the style of a text: by default that of
    the broadcast tool if it is declared, otherwise the block of peer messages.

    With `UNTIL_HANDLED`, earlier injections in the list are removed too; with `ONCE`, they stay in place.
    """
    everywhere = pending.presentation is Presentation.UNTIL_HANDLED
    result = take_out(messages, provider=provider, everywhere=everywhere)
    if not pending.is_worth_showing:
        return Injected(result, InjectionForm.NOTHING)
    pieces = MessageItems(result, provider)
    declared = is_declared(tools)
    why = _why_text(pieces, declared, thinking)
    if not why:
        content = to_json(broadcast_output(pending))
        return Injected([*result, *call_and_result(call_id(pending.offer), content, provider)], InjectionForm.CALL)
    text = framed(pending, style or (RenderingStyle.BROADCAST if declared else RenderingStyle.PEERS))
    if not text:
        return Injected(result, InjectionForm.NOTHING)
    _put_text(result, pieces, text, provider)
    return Injected(result, InjectionForm.TEXT, why)


def take_out(messages: Sequence[object], *, provider: Provider, everywhere: bool = False) -> list[Any]:
    """Return a copy of `messages` without the injection at its end, as the list was before.

    With `everywhere`, remove earlier injections too, back to the model's last thought: some models refuse a thought if
    the messages before it have changed.
    """
    result = list(messages)
    while is_ours(result, len(result) - 2, provider):
        del result[-2:]
    place = text_place(MessageItems(result, provider))
    if not place.is_new and has_text(result[place.at]):
        _remove_text(result, place.at)
    if everywhere:
        _take_out_earlier(result, provider)
    return result


def _take_out_earlier(result: list[Any], provider: Provider) -> None:
    pieces = MessageItems(result, provider)
    for at in range(len(result) - 1, -1, -1):
        piece = pieces[at]
        if piece.thinks:
            return
        if piece.calls and is_ours(result, at, provider):
            del result[at : at + 2]
        elif piece.who is Speaker.USER and has_text(result[at]):
            _remove_text(result, at)


def _why_text(pieces: MessageItems, declared: bool, thinking: Thinking) -> str:
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


def _put_text(result: list[Any], pieces: MessageItems, text: str, provider: Provider) -> None:
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
