"""covey completion."""

from argparse import SUPPRESS, ArgumentParser
from collections.abc import Sequence

from covey.surfaces.cli.call import Call
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.known_names import known_children, known_names, known_sessions
from covey.surfaces.cli.shells import SHELLS, script

DESCRIPTION = """\
Write a script that completes verbs, options, agents, sessions and topics in your shell. The script asks covey itself,
so it is right for every version; agents and sessions are read from the space that the command would use."""
EXAMPLES = """\
examples:
  eval "$(covey completion bash)"    # in ~/.bashrc
  eval "$(covey completion zsh)"     # in ~/.zshrc, after compinit
  covey completion fish | source     # in ~/.config/fish/config.fish"""

WORDS = "words"
"""Given by the scripts instead of a shell: asks for the words that can replace the last --word."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", metavar="|".join(SHELLS), choices=(*SHELLS, WORDS), help="which shell")
    parser.add_argument("--word", action="append", default=[], help=SUPPRESS)


def run(call: Call) -> int:
    if call.options.shell == WORDS:
        # Each word begins with a colon: argparse would take a word of two dashes for the end of the options.
        return _words(call, [word[1:] for word in call.options.word])
    text = script(call.options.shell)
    if call.output.as_json:
        call.output.json({"shell": call.options.shell, "script": text})
    else:
        call.output.text(text.rstrip("\n"))
    return DONE


def _words(call: Call, words: Sequence[str]) -> int:
    from covey.surfaces.cli.options.completing import KnownWords, complete

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
