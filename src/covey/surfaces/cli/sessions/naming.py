"""Names of sessions and runs: a run id, its first characters, a session key, or a label."""

import re
from collections.abc import Sequence
from typing import Final

from covey.core.address import parse_session_key
from covey.core.directory.session import Session
from covey.core.errors import Invalid, LabelAmbiguous, NotFound, RunUnknown, SessionEnded, SessionUnknown
from covey.core.ids import parse_session_id
from covey.core.names import is_uuid_like, parse_label
from covey.core.work.run import Run
from covey.ports.work import RunFilter
from covey.services.space import Services

SHORT: Final = 8
"""Number of characters of a run id that are shown. A shorter unique beginning also names the run."""
HELP: Final = "a run id or its beginning, a session key, or a label"

_MANY: Final = 1_000
_BEGINNING: Final = r"[0-9a-f-]{4,36}"


def short(run: Run) -> str:
    """Return the beginning of a run's id, for people to type."""
    return run.id[:SHORT]


async def run_of(services: Services, text: str) -> Run:
    """Return the named run. A running one comes before one that has ended.

    Raise RunUnknown if there is none, LabelAmbiguous if there are several, and Invalid if the session is not a child.
    """
    named = await _runs(services, text)
    if named:
        return named[-1]
    try:
        session = await _live(services, text)
    except (NotFound, Invalid):
        raise RunUnknown(text) from None
    view = await services.runs.of_session(session.id)
    if view is None and not session.key.is_main:  # the session is a child that the caller may not see
        raise RunUnknown(text)
    if view is None:
        raise Invalid("session", text, "it is nobody's child, and only children are stopped; `covey leave` ends it")
    return view.run


async def session_of(services: Services, text: str) -> Session:
    """Return the named live session. Raise SessionEnded for a child that has ended, SessionUnknown for none."""
    named = await _runs(services, text)
    if not named:
        return await _live(services, text)
    run = named[-1]
    if run.has_ended:
        raise SessionEnded(run.session, run.reason or str(run.state))
    return await services.directory.session(run.session)


async def _runs(services: Services, text: str) -> Sequence[Run]:
    """Return the runs with a name: the running one, or those that have ended."""
    views = await services.runs.find(RunFilter(), _MANY)
    is_beginning = re.fullmatch(_BEGINNING, text) is not None
    named = [
        run
        for run in (view.run for view in views)
        if text in (run.id, run.session, str(run.key), run.label) or (is_beginning and run.id.startswith(text))
    ]
    alive = [run for run in named if not run.has_ended]
    if len(alive) > 1:
        raise LabelAmbiguous(text, [str(run.key) for run in alive])
    return alive or named


async def _live(services: Services, text: str) -> Session:
    directory = services.directory
    if text.startswith("agent:"):
        return await directory.keyed(parse_session_key(text))
    if is_uuid_like(text):
        session = await directory.session(parse_session_id(text))
        if session.has_ended:
            raise SessionEnded(session.id, session.end_reason or "it left")
        return session
    try:
        return await directory.labelled(parse_label(text))
    except Invalid:
        raise SessionUnknown(text) from None
