"""Write the reference of the command line from the parsers: `python tools/cli_page.py`."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from covey.core.ledger.wire import FIELDS
from covey.surfaces.cli import exits
from covey.surfaces.cli.catalogue import GROUPS, VERBS
from covey.surfaces.cli.main import load, parser_of
from covey.surfaces.cli.operation.completion import Argument, arguments_of
from covey.surfaces.cli.topics import TOPICS

PAGE: Final = Path(__file__).parent.parent / "docs" / "reference" / "cli.md"

HEAD: Final = """\
# The command line

This page is made from the code by `python tools/cli_page.py`; a test compares them.

`covey VERB …` acts on one space: the one that `--store` or `COVEY_STORE` names, else the nearest `.covey/covey.db` from
the working directory upwards, else `~/.covey/covey.db`. The acting agent is named by `--as`, by `COVEY_AGENT`, or by a
session that joined. (`--from`, `--agent` and `--to` of earlier versions are still accepted.) The token in `COVEY_TOKEN`
proves the agent, and keeps a command to
[what its holder may do](../explanation/security.md#what-a-token-lets-its-holder-do). `covey help VERB` and
`covey help TOPIC` tell the same in your terminal.

Results go to stdout and everything else to stderr. At a terminal there are tables and colour, unless `NO_COLOR` is set
or `TERM` is `dumb`; what is piped is neither coloured nor wrapped. With `--json` a result is one line of JSON (one for
each event where events are listed), and so is an error:

```json
{"error": {"code": "message-unknown", "message": "no message …", "details": {"message_id": "…"}}}
```

Codes of errors are stable; [the reference of errors](errors.md) lists them. A command that its verb does not understand
has the code `usage`.
"""

JSON: Final = """
## A message in JSON

Every verb that shows messages with `--json` shows them in the same form. All keys are always there; a field without a
value is `null` or empty.

| key | value |
|---|---|
| `from`, `from_session`, `grade` | the agent that sent it, its session, and how sure the space is of that |
| `text` | the text of all parts |
| {others} | as on the wire, and in [an export](export-format.md#records) |
"""

EXITS: Final[Mapping[int, str]] = {
    exits.DONE: "done",
    exits.REFUSED: "refused: a rule of the space says no, or nobody could get the message",
    exits.USAGE: "the command, or one of its values, can't be understood",
    exits.NOT_FOUND: "what was named is not there",
    exits.UNAVAILABLE: "the store can't be used now, or a wait ran out; trying again may help",
    exits.REJECTED: "rejected: what was to be approved or done got a no",
    exits.FAILED: "failed: what was to be done was not, or not in time",
    exits.TIMED_OUT: "timed out: a child took longer than its time limit",
    exits.STOPPED: "stopped: somebody stopped the child that was waited for",
    exits.LOST: "lost: what watched over the child was killed, and it with it",
    exits.INTERRUPTED: "interrupted with Ctrl-C",
}

WIDTH: Final = 100

COMMON_HEAD: Final = "\n## What every verb takes\n\n"


def page() -> str:
    """Return the page."""
    others = ", ".join(f"`{name}`" for name in FIELDS if name != "from")
    lines = [HEAD, JSON.format(others=others), "\n## Exit codes\n\n| code | meaning |\n|---|---|\n"]
    lines += [f"| {code} | {meaning} |\n" for code, meaning in EXITS.items()]
    lines += [COMMON_HEAD, *_table([a for a in arguments_of(parser_of("version")) if a.is_common])]
    lines += ["\n## Topics\n\n| `covey help …` | about |\n|---|---|\n"]
    lines += [f"| `{name}` | {about} |\n" for name, about in TOPICS.items()]
    for group in GROUPS:
        lines.append(f"\n## {group}\n")
        for verb, entry in VERBS.items():
            if entry.group == group:
                lines += _section(verb)
    return "".join(lines)


def _section(verb: str) -> Iterator[str]:
    loaded, arguments = load(verb), arguments_of(parser_of(verb))
    own = [argument for argument in arguments if not argument.is_common]
    yield f"\n### covey {verb}\n\n{_markdown(loaded.description)}\n"
    yield f"\n```text\n{_wrapped(f'covey {verb}', [_usage(argument) for argument in own])}\n```\n"
    if own:
        yield "\n"
        yield from _table(own)
    if loaded.examples:
        yield f"\n```text\n{inspect.cleandoc(loaded.examples.partition(chr(10))[2])}\n```\n"


def _wrapped(command: str, words: Sequence[str]) -> str:
    """Return a command with its words on lines of limited length. No word is broken."""
    lines = [command]
    for word in words:
        if len(lines[-1]) + len(word) >= WIDTH:
            lines.append("   ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


def _usage(argument: Argument) -> str:
    """Return an argument in the form of a usage line."""
    if not argument.flags:
        word = f"{argument.metavar} …" if argument.is_repeatable else argument.metavar
    else:
        word = f"{argument.flags[-1]} {argument.metavar}".strip()
        word += " …" if argument.is_repeatable else ""
    return word if argument.is_required else f"[{word}]"


def _table(arguments: Sequence[Argument]) -> Iterator[str]:
    yield "| argument | meaning |\n|---|---|\n"
    for argument in arguments:
        name = " ".join((", ".join(argument.flags), argument.metavar)).strip().replace("|", "\\|")
        yield f"| `{name}` | {argument.help.replace('|', chr(92) + '|')} |\n"


def _markdown(text: str) -> str:
    """Return a description as Markdown: paragraphs unchanged, indented lines as a block."""
    lines: list[str] = []
    is_block = False
    for line in text.splitlines():
        if line.startswith(" ") is not is_block and (line or is_block):
            lines += ["```"] if is_block else ["", "```text"]
            is_block = not is_block
        lines.append(line.removeprefix("  ") if is_block else line)
    return "\n".join([*lines, "```"] if is_block else lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
