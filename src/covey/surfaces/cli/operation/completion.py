"""The verb `completion`: the words that can follow a command line, and a script for each shell that asks for them."""

from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from typing import Final, NamedTuple

from covey.core.names import AgentName
from covey.engines import is_there
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.catalogue import VERBS
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.topics import TOPICS


def _completion_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", metavar="|".join(SHELLS), choices=(*SHELLS, WORDS), help="which shell")
    parser.add_argument("--word", action="append", default=[], help=SUPPRESS)


def _run_completion(call: Call) -> int:
    if call.options.shell == WORDS:
        # Each word begins with a colon: argparse would take a word of two dashes for the end of the options.
        return _words(call, [word[1:] for word in call.options.word])
    text = script(call.options.shell)
    if call.output.as_json:
        call.output.json({"shell": call.options.shell, "script": text})
    else:
        call.output.text(text.rstrip("\n"))
    return DONE


COMPLETION: Final = Verb(
    arguments=_completion_arguments,
    run=_run_completion,
    description="""\
Write a script that completes verbs, options, agents, sessions and topics in your shell. The script asks covey itself,
so it is right for every version; agents and sessions are read from the space that the command would use.""",
    examples="""\
examples:
  eval "$(covey completion bash)"    # in ~/.bashrc
  eval "$(covey completion zsh)"     # in ~/.zshrc, after compinit
  covey completion fish | source     # in ~/.config/fish/config.fish""",
)


class Argument(NamedTuple):
    """One argument of a verb."""

    flags: tuple[str, ...]
    """Empty for a positional argument."""
    metavar: str
    """The name of its value, or empty if it takes none."""
    choices: tuple[str, ...]
    help: str
    is_required: bool
    is_repeatable: bool
    is_common: bool
    """True if every verb takes it."""

    @property
    def takes_value(self) -> bool:
        return bool(self.metavar)


COMMON = ("--store", "--as", "--json")


def arguments_of(parser: ArgumentParser) -> Sequence[Argument]:
    """Return the arguments of a verb's parser, in its own order; those that every verb takes come last."""
    actions = parser._actions  # pyright: ignore[reportPrivateUsage]  # argparse has no public way to ask
    found = [_argument(action, parser) for action in actions if action.help != SUPPRESS and action.dest != "help"]
    return sorted(found, key=lambda argument: argument.is_common)


def _argument(action: Action, parser: ArgumentParser) -> Argument:
    flags = tuple(action.option_strings)
    takes_value = action.nargs != 0
    choices = tuple(map(str, action.choices or ()))
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return Argument(
        flags=flags,
        metavar=("|".join(choices) if choices and action.metavar is None else metavar) if takes_value else "",
        choices=choices,
        help=(action.help or "") % {"prog": parser.prog},
        is_required=action.required,
        is_repeatable=action.nargs == "+" or type(action).__name__ == "_AppendAction",
        is_common=bool(flags) and flags[-1] in COMMON,
    )


FILES: Final = ":files"
"""Returned instead of words if file names are wanted: shells complete those themselves."""

_AGENTS: Final = frozenset({"AGENT", "NAME", "WHOM"})
_ANYWHERE: Final = {"--store": "the space", "--as": "the acting agent"}


class Word(NamedTuple):
    """A possible word, with its purpose."""

    word: str
    about: str = ""


class KnownWords(NamedTuple):
    """Names that a space knows. Each is read only if a name of this kind can follow."""

    agents: Callable[[], Sequence[str]]
    sessions: Callable[[], Sequence[tuple[str, str]]]
    """Names of live sessions, each with its purpose."""
    children: Callable[[], Sequence[tuple[str, str]]]


def complete(words: Sequence[str], known: KnownWords, parser_of: Callable[[str], ArgumentParser]) -> Sequence[Word]:
    """Return the words that can replace the last one. `parser_of` returns the parser of a verb."""
    *before, current = words or ("",)
    verb, after = _verb(before)
    if before and before[-1] in _ANYWHERE:
        found: Iterable[Word] = map(Word, known.agents()) if before[-1] == "--as" else ()
    elif verb is None and current.startswith("-"):
        found = [*(Word(flag, about) for flag, about in _ANYWHERE.items()), Word("--help"), Word("--version")]
    elif verb is None:
        found = [Word(name, entry.summary) for name, entry in VERBS.items()]
    elif verb in VERBS:
        found = _of_verb(verb, arguments_of(parser_of(verb)), after, current, known)
    else:
        found = ()
    return [word for word in found if word.word.startswith(current) or word.word == FILES]


def _verb(before: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    """Return the verb, and the words after it."""
    place = 0
    while place < len(before):
        if before[place] in _ANYWHERE:
            place += 1
        elif not before[place].startswith("-"):
            return before[place], before[place + 1 :]
        place += 1
    return None, ()


def _of_verb(
    verb: str, arguments: Sequence[Argument], after: Sequence[str], current: str, known: KnownWords
) -> Iterable[Word]:
    flags = {flag: argument for argument in arguments for flag in argument.flags}
    previous = flags.get(after[-1]) if after else None
    if previous is not None and previous.takes_value:
        return _values(verb, previous, known)
    if current.startswith("-"):
        unused = (flag for flag in flags if flag not in after or flags[flag].is_repeatable)
        return [*(Word(flag, flags[flag].help) for flag in unused), Word("--help", "explain the verb")]
    places = [argument for argument in arguments if not argument.flags]
    taken = _taken(after, flags)
    if not places or (taken >= len(places) and not places[-1].is_repeatable):
        return ()
    return _values(verb, places[min(taken, len(places) - 1)], known)


def _taken(after: Sequence[str], flags: dict[str, Argument]) -> int:
    """Return the number of words that belong to no option."""
    count, is_value = 0, False
    for word in after:
        if is_value:
            is_value = False
        elif word.startswith("-"):
            is_value = word in flags and flags[word].takes_value
        else:
            count += 1
    return count


def _values(verb: str, argument: Argument, known: KnownWords) -> Iterable[Word]:
    if argument.choices:
        return map(Word, argument.choices)
    if argument.metavar in _AGENTS:
        return map(Word, known.agents())
    if argument.metavar in ("SESSION", "CHILD"):
        return starmap(Word, known.sessions() if argument.metavar == "SESSION" else known.children())
    if argument.metavar in ("PATH", "FILE"):
        return (Word(FILES),)
    if verb == "help":
        all_verbs = Word("all", "the list of all verbs and topics")
        return [
            all_verbs,
            *(Word(*topic) for topic in TOPICS.items()),
            *(Word(name, e.summary) for name, e in VERBS.items()),
        ]
    return ()


_MANY: Final = 1_000


def known_names(call: Call) -> Sequence[AgentName]:
    """Return the names of all agents. A missing store is not created: completion changes nothing."""
    return call.run(call.services.directory.names()) if is_there(call.url) else ()


def known_children(call: Call) -> Sequence[tuple[str, str]]:
    """Return the running children, each with its description or agent.

    A child is named by its label, or else by the beginning of its run's id.
    """
    if not is_there(call.url):
        return ()
    from covey.ports.work import RunFilter
    from covey.surfaces.cli.children.runs import short_id

    views = call.run(call.services.runs.find(RunFilter(has_ended=False), _MANY))
    return [(view.run.label or short_id(view.run), view.run.description or view.run.agent) for view in views]


def known_sessions(call: Call) -> Sequence[tuple[str, str]]:
    """Return the running children, and other live sessions that have a label."""
    if not is_there(call.url):
        return ()
    children = known_children(call)
    sessions = [session for view in call.run(call.services.directory.agents()) for session in view.sessions]
    labels = {session.label: session.agent for session in sessions if session.label is not None}
    return [*children, *((label, agent) for label, agent in labels.items() if label not in dict(children))]


SHELLS: Final = ("bash", "zsh", "fish")


def script(shell: str) -> str:
    """Return the script of a shell."""
    from pathlib import Path

    return Path(__file__).parents[1].joinpath("shells", f"covey.{shell}").read_text(encoding="utf-8")


WORDS = "words"
"""Given by the scripts instead of a shell: asks for the words that can replace the last --word."""


def _words(call: Call, words: Sequence[str]) -> int:

    if "--store" in words[:-2]:
        call.options.store = words[words.index("--store") + 1]
    known = KnownWords(lambda: known_names(call), lambda: known_sessions(call), lambda: known_children(call))
    found = complete(words, known, call.parser_of)
    if call.output.as_json:
        call.output.json([{"word": word, "about": about} for word, about in found])
    else:
        for word, about in found:
            call.output.text(f"{word}\t{about}" if about else word)
    return DONE
