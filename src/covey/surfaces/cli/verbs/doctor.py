"""covey doctor."""

from argparse import ArgumentParser
from collections.abc import Collection, Sequence
from contextlib import suppress

from covey.core.care.diagnoses import DIAGNOSES
from covey.core.errors import Invalid, Unavailable
from covey.core.text.wording import closest
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.credentials import check_whole
from covey.surfaces.cli.views.salvaging import save
from covey.surfaces.cli.views.visit import Visit

DESCRIPTION = """\
Look for what is wrong with a space, say what it means and what to do about
it. Looking changes nothing. With --fix, what can be mended is mended: first
it is shown, and a person at a terminal is asked.

Exit codes: 0 healthy, or all mended; 1 where something is left."""
EXAMPLES = """\
examples:
  covey doctor                 look at everything; a large space takes a while
  covey doctor --quick         leave out what takes long
  covey doctor --fix           show what would be mended, ask, mend
  covey doctor --fix --yes --only wrong-permissions --json
  covey doctor --salvage .covey/saved.db"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--quick", action="store_true", help="leave out what takes long: indexes, and the whole journal"
    )
    doing = parser.add_mutually_exclusive_group()
    doing.add_argument("--fix", action="store_true", help="mend what can be mended, after showing it")
    doing.add_argument("--salvage", metavar="FILE", help="copy what can be read of a damaged store into a new one")
    parser.add_argument("--yes", action="store_true", help="with --fix: do not ask")
    parser.add_argument(
        "--only", metavar="CODE", action="append", help="with --fix: mend only findings of this code; repeatable"
    )


def run(call: Call) -> int:
    options = call.options
    with suppress(Unavailable):  # a store that can't be read can't check tokens, and the doctor must still examine it
        check_whole(call.holder, "examine the space")
    codes = _codes(options.only)
    if (options.yes or options.only) and not options.fix:
        raise Invalid("--yes" if options.yes else "--only", None, "it goes with --fix")
    if options.salvage is not None:
        return save(call, options.salvage)
    visit = Visit(call, codes)
    try:
        return visit.run()
    finally:
        visit.close()


def _codes(given: Sequence[str] | None) -> Collection[str]:
    """Return the codes of the findings that may be mended."""
    known = [diagnosis.code for diagnosis in DIAGNOSES]
    for code in given or ():
        if code not in known:
            near = closest(code, known)
            raise Invalid("code", code, f"did you mean {' or '.join(near)}?" if near else "docs list the codes")
    return given or known
