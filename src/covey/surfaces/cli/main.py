"""The door: find the verb, load only that one, run it, turn errors into exit codes."""

import sys
from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn, Protocol, cast

from covey.core.errors import CoveyError, Invalid
from covey.core.similar import closest
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.catalogue import GROUPS, VERBS
from covey.surfaces.cli.exits import INTERRUPTED, exit_code
from covey.surfaces.cli.output import Output

EPILOGUE = """\
Where: --store URL or COVEY_STORE; otherwise the nearest .covey/covey.db upwards, else ~/.covey/covey.db.
Who: --agent NAME or COVEY_AGENT; a session that joined proves itself by COVEY_SESSION.
Exit codes: 0 done, 1 refused, 2 usage, 3 not found, 4 unavailable.
`covey VERB --help` explains a verb."""


class Verb(Protocol):
    """What a module under verbs/ provides."""

    def arguments(self, parser: ArgumentParser) -> None: ...

    def run(self, call: Call) -> int: ...


class Parser(ArgumentParser):
    """Raises instead of exiting, so that usage errors come out like all others."""

    def error(self, message: str) -> NoReturn:
        raise Invalid("command", message, f"see `{self.prog} --help`")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    output = Output("--json" in words)
    call: Call | None = None
    try:
        verb = _verb(words)
        if verb is None:
            output.text(overview())
            return 0
        options, module = parse(verb, words)
        call = Call(options, output)
        return module.run(call)
    except CoveyError as error:
        output.error(error)
        return exit_code(error)
    except KeyboardInterrupt:
        output.note("covey: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    finally:
        if call is not None:
            call.close()


def _verb(words: list[str]) -> str | None:
    """Take the verb out of the words: the first that is no option and no option's value."""
    skip = False
    for place, word in enumerate(words):
        if skip:
            skip = False
        elif word in ("--store", "--agent"):
            skip = True
        elif not word.startswith("-"):
            return _known(words.pop(place))
        elif word in ("-h", "--help"):
            return None
        elif word == "--version":
            return "version"
    return None


def _known(verb: str) -> str:
    if verb in VERBS:
        return verb
    near = closest(verb, VERBS)
    raise Invalid("verb", verb, f"did you mean {' or '.join(near)}?" if near else "`covey --help` lists the verbs")


def parse(verb: str, words: Sequence[str]) -> tuple[Namespace, Verb]:
    """Return the options of a call and the module that carries it out."""
    entry = VERBS[verb]
    module = cast(Verb, import_module(f"covey.surfaces.cli.verbs.{entry.module}"))
    return parser_of(verb, module).parse_args(words), module


def parser_of(verb: str, module: Verb) -> ArgumentParser:
    """Return the parser of one verb, with the options that every verb has."""
    parser = Parser(
        prog=f"covey {verb}",
        description=getattr(module, "DESCRIPTION", VERBS[verb].summary),
        epilog=getattr(module, "EXAMPLES", None),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(verb=verb)
    module.arguments(parser)
    common = parser.add_argument_group("for every verb")
    common.add_argument("--store", metavar="URL", help="the space: sqlite:PATH or memory:")
    if not any(action.dest == "agent" for action in parser._actions):  # pyright: ignore[reportPrivateUsage]  # no public way
        common.add_argument("--agent", metavar="NAME", help="who acts")
    common.add_argument("--json", action="store_true", help="write JSON for programs")
    common.add_argument("--version", action="store_true", help=SUPPRESS)
    return parser


def overview() -> str:
    """Return the help of the whole command."""
    lines = ["usage: covey VERB …", "", "Messaging and coordination for LLM agents.", ""]
    for group in GROUPS:
        members = [(verb, entry.summary) for verb, entry in VERBS.items() if entry.group == group]
        if members:
            lines += [f"{group}:", *(f"  {verb:<12} {summary}" for verb, summary in members), ""]
    return "\n".join([*lines, EPILOGUE])
