"""The memory of OpenAI's Responses API: items of earlier responses, and the thought before each item."""

import base64
from collections.abc import Sequence

from covey.core.json import JsonObject
from covey.testing.models.lenient import objects, string
from covey.testing.models.refusal import Refusal


class Memory:
    """Stored responses, each with the whole conversation before it. A request can opt out with `store: false`."""

    def __init__(self) -> None:
        self._responses: dict[str, tuple[JsonObject, ...]] = {}
        self._items: dict[str, JsonObject] = {}
        self._thoughts: dict[str, str] = {}

    def before(self, body: JsonObject) -> tuple[JsonObject, ...]:
        """Return the items before the input of a request. Refuse a request whose previous response was not stored."""
        previous = body.get("previous_response_id")
        if previous is None:
            return ()
        if previous not in self._responses:
            raise Refusal(
                f"Previous response with id '{previous}' not found.",
                param="previous_response_id",
                code="previous_response_not_found",
            )
        return self._responses[string(previous)]

    def keep(self, response_id: str, body: JsonObject, output: Sequence[JsonObject]) -> None:
        """Remember the thoughts of a response, and store the response unless its request opts out."""
        thought = ""
        for item in output:
            if item.get("type") == "reasoning":
                thought = string(item.get("id"))
            elif thought:
                self._thoughts[string(item.get("id"))] = thought
        if body.get("store") is not False:
            self._responses[response_id] = (*self.before(body), *given(body), *output)
            self._items.update({string(item.get("id")): item for item in output})

    def item(self, item_id: str) -> JsonObject | None:
        """Return a stored item, or None."""
        return self._items.get(item_id)

    def thought_of(self, item_id: str) -> str:
        """Return the id of the last thought before an item in its response; empty if there was none."""
        return self._thoughts.get(item_id, "")


def given(body: JsonObject) -> list[JsonObject]:
    """Return the input of a request as items."""
    content = body.get("input")
    return [{"type": "message", "role": "user", "content": content}] if isinstance(content, str) else objects(content)


def encrypted(item_id: str) -> str:
    """Return the encrypted content of a thought, which in the real API only the provider can read."""
    return base64.b64encode(f"scripted:{item_id}".encode()).decode()
