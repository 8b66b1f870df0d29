"""Plain data: a copy of a caller's value, as it comes back from JSON. The caller can't change the copy any more."""

import json
from collections.abc import Mapping
from typing import cast

from covey.core.errors import Invalid
from covey.core.json import Json, JsonObject
from covey.core.limits import MAX_NESTING


def plain(value: object, what: str) -> Json:
    """Return a copy of `value`, as every store will return it. Raise Invalid if JSON can't express it."""
    try:
        document = json.dumps(value, ensure_ascii=False, allow_nan=False)
        document.encode()
        copy = cast(Json, json.loads(document))
    except UnicodeEncodeError:
        raise Invalid(what, "…", "it has characters that are not valid Unicode") from None
    except (TypeError, ValueError, RecursionError):
        raise Invalid(what, value, "it can't be written as JSON") from None
    if _is_deep(copy):
        raise Invalid(what, value, f"it is nested deeper than {MAX_NESTING} levels")
    return copy


def plain_object(value: object, what: str) -> JsonObject:
    """Return a plain copy of a mapping. Raise Invalid if its keys are not all texts."""
    pairs = dict(cast(Mapping[object, object], value)) if isinstance(value, Mapping) else None
    if pairs is None or not all(isinstance(key, str) for key in pairs):
        raise Invalid(what, cast(object, value), "use a mapping with texts for keys")
    return cast(JsonObject, plain(pairs, what))


def _is_deep(value: Json) -> bool:
    level: list[Json] = [value]
    for _ in range(MAX_NESTING + 1):
        level = [item for container in level for item in _items(container)]
        if not level:
            return False
    return True


def _items(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
