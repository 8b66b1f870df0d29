"""Answers of all toolkits: data as JSON, and errors as text for a model; both are rendered safely."""

from typing import Final

from covey.core.compact import to_json
from covey.core.errors import CoveyError
from covey.core.json import Json, JsonObject
from covey.core.render_data import harmless_object
from covey.core.render_escape import contained
from covey.toolkits.advice import advice
from covey.toolkits.tool import Answer
from covey.toolkits.wording import clipped, said

LONGEST: Final = 600
"""The maximal length of an error message: it may contain everything that the model has sent."""


def as_json(data: JsonObject, *, is_error: bool = False) -> Answer:
    """Return data as the JSON that a tool's description promises."""
    shown = harmless_object(data)
    return Answer(to_json(shown), shown, is_error)


def rendered(answer: Answer) -> Answer:
    """Return an answer that is safe to show a model, whatever a tool put into it: every text of its data is harmless,
    and its text hides nothing and has no tags. Every call ends here. A tool itself renders only lines that others
    wrote."""
    return answer._replace(text=contained(answer.text), data=harmless_object(answer.data))


def refused(error: CoveyError, hint: str | None = None) -> Answer:
    """Return an error as an answer: the error and the next step. `hint` replaces the usual advice."""
    told = said(error.message, LONGEST)
    stop = "" if told.endswith((".", "?", "!")) else "."
    what_to_do = advice(error) if hint is None else hint
    details = {name: _short(value) for name, value in error.details.items()}
    return Answer(
        f"{told}{stop} {what_to_do}".rstrip(),
        {"error": {"code": error.code, "message": told, "details": harmless_object(details), "advice": what_to_do}},
        is_error=True,
    )


def _short(value: Json) -> Json:
    return clipped(value, LONGEST) if isinstance(value, str) else value
