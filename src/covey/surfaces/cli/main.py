"""The entry point: find the verb, load only its module, run it, and turn errors into exit codes."""

import os
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence, Set
from importlib import import_module
from typing import Final, NoReturn

from covey.core.errors import CoveyError, Invalid, SpaceMissing
from covey.core.reporting import closest
from covey.engines import engine_of, is_fallback, is_there
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.catalogue import VERBS, Use
from covey.surfaces.cli.exits import DONE, INTERRUPTED, exit_code
from covey.surfaces.cli.terminal.output import Output, columns

WIDEST = 100
"""Maximum width of the help, however wide the terminal is."""


class HelpFormatter(RawDescriptionHelpFormatter):
    """A help formatter with a given width.

    argparse makes a formatter for every argument, and without a width each one loads shutil to ask for it.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(columns(), WIDEST) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from covey.surfaces.cli.terminal.text import reflowed

        return reflowed(text, width)


class Parser(ArgumentParser):
    """A parser that raises instead of exiting, so that usage errors are reported like all others."""

    def error(self, message: str) -> NoReturn:

        shown = {action.dest: flag for flag, action in self._option_string_actions.items() if action.help != SUPPRESS}
        known = {flag: shown.get(action.dest, "") for flag, action in self._option_string_actions.items()}
        raise Usage(with_closest(message, known), self.prog)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    output = Output("--json" in words)
    try:
        code = _run(words, output)
        output.flush()
        return code
    except BrokenPipeError:  # the reader has closed the pipe: `covey log | head -1`
        output.abandon()
        return DONE


def _run(words: list[str], output: Output) -> int:
    call: Call | None = None
    verb: str | None = None
    try:
        _check_text(words)
        verb = _verb(words)
        if verb is None:
            from covey.surfaces.cli.operation.help import overview

            output.text(overview())
            return DONE
        output.as_json |= VERBS[verb].json_only
        options, loaded = parse(verb, words)
        call = Call(options, output, parser_of)
        _check_space(call, VERBS[verb].use)
        return loaded.run(call)
    except CoveyError as error:
        output.error(error, _code_in(verb, error), lambda: options_of(verb) if verb else ())
        return exit_code(error)
    except KeyboardInterrupt:
        output.step("")  # starts a new line below the key that the terminal echoes
        output.note("covey: interrupted")
        return INTERRUPTED
    finally:
        if call is not None:
            call.close()


def _check_space(call: Call, use: Use) -> None:
    """Raise SpaceMissing if a verb needs a space and there is none.

    Nothing is created. If the space of the home folder is used from another folder, say so.
    """
    if use in (Use.NOTHING, Use.EXAMINES):
        return
    is_named = bool(call.options.store or os.environ.get("COVEY_STORE"))
    call.is_from_home = not is_named and is_fallback(call.url)
    if call.is_from_home and use is Use.GUARDS:
        raise SpaceMissing(
            str(call.url), "the gate does not use the home folder's space from elsewhere; `covey init` makes one here"
        )
    call.is_first = not is_there(call.url)
    if call.is_first and use is not Use.MAKES:
        from shlex import quote  # imported late because a space is seldom missing

        engine = engine_of(call.url)
        if not engine.capabilities.is_lasting:
            raise SpaceMissing(str(call.url), "it begins empty with each command, and ends with it")
        offered = str(engine.for_new(call.url))
        command = f"`covey init --store {quote(offered)}`" if is_named else "`covey init`"
        why = "it has not been made" if is_named else "this folder is in no space, and none was named"
        raise SpaceMissing(str(call.url), f"{why}; {command} makes one{'' if is_named else ' here'}")
    if call.is_from_home and not call.is_first:
        call.output.note(f"covey: this folder is in no space; using {call.url}")


def _code_in(verb: str | None, error: CoveyError) -> str | None:
    """Return the code of an error in the agreed format of a verb, or None for Covey's own code."""
    if verb is None or not VERBS[verb].json_only:
        return None
    from covey.surfaces.cli.dialogue.agent_loops import loop_code

    return loop_code(error)


def _check_text(words: Sequence[str]) -> None:
    """Raise Invalid if a word is not UTF-8: such a word can be neither stored nor shown."""
    for word in words:
        if not word.isascii() and any("\ud800" <= c <= "\udfff" for c in word):
            raise Invalid("argument", word, "it is not UTF-8")


def _verb(words: list[str]) -> str | None:
    """Remove and return the verb: the first word that is neither an option nor an option's value."""
    skip, unknown = False, None
    for place, word in enumerate(words):
        if skip:
            skip = False
        elif word in ("--store", "--as", "--agent"):
            skip = True
        elif not word.startswith("-"):
            return _known(words.pop(place))
        elif word in ("-h", "--help"):
            return None
        elif word == "--version":
            return "version"
        elif unknown is None and word.partition("=")[0] not in _ANYWHERE:
            unknown = word
    if unknown is not None:
        problem = f"unrecognized arguments: {unknown}"
        raise Usage(with_closest(problem, {flag: flag for flag in _ANYWHERE}), "covey")
    return None


_ANYWHERE: Final = ("--as", "--store", "--json", "--help", "--version")
"""Options that may stand before the verb."""


def _known(verb: str) -> str:
    if verb in VERBS:
        return verb
    near = closest(verb, VERBS)
    raise Invalid("verb", verb, f"did you mean {' or '.join(near)}?" if near else "`covey help all` lists the verbs")


def parse(verb: str, words: Sequence[str]) -> tuple[Namespace, Verb]:
    """Return the options of a call and its verb.

    Options may stand anywhere among the words: `covey reply 3 --as coder "yes"`.
    """
    return parser_of(verb).parse_intermixed_args(words), load(verb)


def load(verb: str) -> Verb:
    """Return a verb. Only its own module is imported."""
    module, _, constant = VERBS[verb].home.partition(":")
    name = module if module.startswith("covey.") else f"{__package__}.{module}"
    return Verb(*getattr(import_module(name), constant))  # another surface brings its verb as a plain tuple


def parser_of(verb: str) -> ArgumentParser:
    """Return the parser of one verb, with the options that every verb has."""
    arguments, _, description, examples = load(verb)
    parser = Parser(
        prog=f"covey {verb}",
        description=description or VERBS[verb].summary,
        epilog=examples,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    parser.color = False  # pyright: ignore[reportAttributeAccessIssue]  # since 3.14 argparse colours by rules of its own
    parser.set_defaults(verb=verb, actor=None)
    arguments(parser)
    common = parser.add_argument_group("for every verb")
    common.add_argument("--store", metavar="URL", help="the space: sqlite:PATH, files:PATH, nats://HOST/SPACE, memory:")
    given = parser._option_string_actions  # pyright: ignore[reportPrivateUsage]  # no public way
    if "--as" not in given:
        common.add_argument("--as", dest="actor", metavar="NAME", help="the acting agent (default $COVEY_AGENT)")
    if "--agent" not in given:  # the older name, where it is no filter
        common.add_argument("--agent", dest="actor", help=SUPPRESS)
    common.add_argument("--json", action="store_true", help="write JSON for programs")
    common.add_argument("--version", action="store_true", help=SUPPRESS)
    return parser


def options_of(verb: str) -> Set[str]:
    """Return the options of a verb, without those that its help hides."""
    actions = parser_of(verb)._option_string_actions  # pyright: ignore[reportPrivateUsage]  # no public way
    return {flag for flag, action in actions.items() if action.help != SUPPRESS}


class Usage(Invalid):
    code = "usage"

    def __init__(self, problem: str, prog: str) -> None:
        CoveyError.__init__(self, f"{problem}; see `{prog} --help`", command=prog, problem=problem)
        self.what = prog
        self.rule = problem


def with_closest(problem: str, options: Mapping[str, str]) -> str:
    """Return a parser's message. If it names an unknown option, add the closest known options.

    `options` has the name to suggest for each option: an older name stands for the present one, or for nothing.
    """
    _, _, unknown = problem.partition("unrecognized arguments: ")
    option = unknown.split(" ")[0].partition("=")[0]
    found = closest(option, options) if option.startswith("--") else ()
    near = dict.fromkeys(options[flag] for flag in found if options[flag])
    return f"{problem} (did you mean {' or '.join(near)}?)" if near else problem
