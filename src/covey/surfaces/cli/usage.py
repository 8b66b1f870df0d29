"""Usage: a command that its verb does not understand, with what would be understood."""

from collections.abc import Iterable

from covey.core.errors import CoveyError, Invalid
from covey.core.similar import closest


class Usage(Invalid):
    code = "usage"

    def __init__(self, problem: str, prog: str) -> None:
        CoveyError.__init__(self, f"{problem}; see `{prog} --help`", command=prog, problem=problem)
        self.what = prog
        self.rule = problem


def with_closest(problem: str, options: Iterable[str]) -> str:
    """Return what a parser complains about; an option that it does not know with those that are close to it."""
    _, _, unknown = problem.partition("unrecognized arguments: ")
    option = unknown.split(" ")[0].partition("=")[0]
    near = closest(option, options) if option.startswith("--") else ()
    return f"{problem} (did you mean {' or '.join(near)}?)" if near else problem
