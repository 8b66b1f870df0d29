"""How Anthropic words what is wrong with a request."""

from collections.abc import Sequence

from covey.core.json import Json
from covey.testing.models.cursor import Path
from covey.testing.models.refusal import Refusal

_TYPES = {"an array": "a valid list", "an object": "a valid dictionary"}


class AnthropicVoice:
    """Names the place first, its steps separated by dots."""

    def missing(self, path: Path) -> Refusal:
        return self.invalid(path, "Field required")

    def wrong_type(self, path: Path, wanted: str, value: Json) -> Refusal:
        return self.invalid(path, f"Input should be {_TYPES.get(wanted, wanted.replace(' ', ' valid ', 1))}")

    def not_one_of(self, path: Path, value: str, options: Sequence[str]) -> Refusal:
        *rest, last = (repr(option) for option in options)
        choice = f"{', '.join(rest)} or {last}" if rest else last
        return self.invalid(path, f"Input should be {choice}")

    def unknown(self, path: Path) -> Refusal:
        return self.invalid(path, "Extra inputs are not permitted")

    def invalid(self, path: Path, why: str) -> Refusal:
        place = ".".join(str(step) for step in path)
        return Refusal(f"{place}: {why}" if place else why)
