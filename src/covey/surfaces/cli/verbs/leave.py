"""covey leave."""

import os
from argparse import ArgumentParser

from covey.core.errors import Invalid, SessionEnded
from covey.core.ids import SessionId, parse_session_id
from covey.services.directory.presence import Leftovers
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.views.exports import unset_line

DESCRIPTION = """\
End a session: the one that COVEY_SESSION proves, or another one of the same agent by its id. What it leaves unhandled
waits for the agent's next session, unless another live one has it. One that has ended already is left alone."""
EXAMPLES = """\
examples:
  eval "$(covey leave --export)"
  covey leave 3f2c9a4e-5d0b-4c1e-9a53-0f6b7c8d9e10 --agent coder"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="SESSION", help="its id; by default the one in COVEY_SESSION")
    parser.add_argument("--export", action="store_true", help="write only what a shell evaluates")


def run(call: Call) -> int:
    options = call.options
    directory = call.services.directory
    given = parse_session_id(options.id) if options.id else None
    if given is None and not os.environ.get("COVEY_SESSION"):
        raise Invalid("session", None, "name its id, or leave from where COVEY_SESSION is set")
    try:
        actor = call.actor()
        session_id = given or actor.session
        if session_id is None:
            raise Invalid("session", None, f"COVEY_SESSION is not one of {actor.agent}'s: name its id")
        left = call.run(directory.leave(actor, session_id=given))
    except SessionEnded as ended:
        if given is not None:
            raise
        session_id, left = SessionId(str(ended.details["session_id"])), None
    session = call.run(directory.session(session_id))
    _show(call, session_id, f"{session.agent} left {session.key}", left)
    return 0


def _show(call: Call, session_id: SessionId, lead: str, left: Leftovers | None) -> None:
    output = call.output
    if output.as_json:
        found = left or Leftovers()
        output.json(
            {
                "session": session_id,
                "ended": left is not None,
                "parked": found.parked,
                "passed_on": found.passed_on,
            }
        )
        return
    tell = output.step if call.options.export else output.text
    tell(f"{lead} earlier: nothing to do." if left is None else f"{lead}. {_said(left)}")
    if call.options.export:
        output.text(unset_line())
    else:
        output.note(f"In a shell that was this session: {unset_line()}")


def _said(left: Leftovers) -> str:
    """Return a sentence on the mail that the session had not handled."""
    said = [f"{left.parked} unhandled parked for its next session" if left.parked else ""]
    said += [f"{left.passed_on} passed on to another session of it" if left.passed_on else ""]
    return (", ".join(filter(None, said)) or "Nothing was parked") + "."
