"""Items that belong together: a call and its output, a thought and what followed it."""

from collections.abc import Sequence

from covey.core.json import JsonObject
from covey.testing.models.cursor import Cursor
from covey.testing.models.lenient import string
from covey.testing.models.openai_responses.items import OUTPUTS, type_of
from covey.testing.models.openai_responses.memory import Memory, encrypted
from covey.testing.models.refusal import Refusal


def check_calls(before: Sequence[JsonObject], items: Sequence[Cursor]) -> None:
    """Refuse an output without its call, and a call without its output. `before` is what the provider remembers."""
    waiting = [(string(item.get("type")), string(item.get("call_id"))) for item in before]
    waiting = [(kind, call_id) for kind, call_id in waiting if kind in OUTPUTS]
    for item in before:
        _answer(waiting, string(item.get("type")), string(item.get("call_id")))
    for item in items:
        kind = type_of(item)
        if kind in OUTPUTS:
            waiting.append((kind, item.need("call_id").text()))
        elif kind in OUTPUTS.values():
            call_id = item.need("call_id").text()
            if not _answer(waiting, kind, call_id):
                told = kind.removesuffix("_output").replace("_", " ")
                _refuse(f"No tool call found for {told} output with call_id {call_id}.")
    if waiting:
        kind, call_id = waiting[0]
        _refuse(f"No tool output found for {kind.replace('_', ' ')} {call_id}.")


def _answer(waiting: list[tuple[str, str]], kind: str, call_id: str) -> bool:
    for call in waiting:
        if (OUTPUTS[call[0]], call[1]) == (kind, call_id):
            waiting.remove(call)
            return True
    return False


def check_ids(items: Sequence[Cursor], memory: Memory) -> None:
    """Refuse an item that comes twice, and one that is only referred to and was not stored."""
    seen: set[str] = set()
    for item in items:
        item_id = string(item.fields().get("id"))
        if item_id and item_id in seen:
            _refuse(f"Duplicate item found with id {item_id}. Remove duplicate items from your input and try again.")
        seen.add(item_id)
        kind = type_of(item)
        content = item.get("encrypted_content")
        if kind == "reasoning" and content and content.text() != encrypted(item_id):
            raise Refusal(
                f"The encrypted content for item {item_id} could not be verified.", code="invalid_encrypted_content"
            )
        is_bare = kind == "item_reference" or (kind == "reasoning" and not content)
        if is_bare and memory.item(item_id) is None:
            raise Refusal(
                f"Item with id '{item_id}' not found. Items are not persisted when `store` is set to false. Try again "
                "with `store` set to true, or remove this item from your input.",
                status=404,
                param="input",
            )


def check_thoughts(items: Sequence[Cursor], memory: Memory) -> None:
    """Refuse a thought without what followed it, and what followed a thought without the thought."""
    ids = {string(item.fields().get("id")) for item in items}
    for place, item in enumerate(items):
        kind, item_id = type_of(item), string(item.fields().get("id"))
        if kind == "reasoning" and not any(_is_said(next_item) for next_item in items[place + 1 : place + 2]):
            _refuse(f"Item '{item_id}' of type 'reasoning' was provided without its required following item.")
        thought = memory.thought_of(item_id)
        if thought and thought not in ids:
            _refuse(
                f"Item '{item_id}' of type '{kind}' was provided without its required 'reasoning' item: '{thought}'."
            )


def _is_said(item: Cursor) -> bool:
    kind = type_of(item)
    if kind == "message":
        return item.fields().get("role") == "assistant"
    return kind not in OUTPUTS.values()


def _refuse(message: str) -> None:
    raise Refusal(message, param="input")
