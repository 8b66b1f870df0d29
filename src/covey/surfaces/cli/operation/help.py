"""The verbs `help` and `version`, and the overview: the text of `covey` and `covey --help`."""

import platform
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Final

from covey.core.errors import Invalid
from covey.core.reporting import closest
from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.catalogue import GROUPS, VERBS
from covey.surfaces.cli.exits import DONE
from covey.surfaces.cli.terminal.text import reflowed
from covey.surfaces.cli.topics import TOPICS, topic
from covey.version import __version__

WIDTH = 78

USAGE = "usage: covey VERB … [--as NAME] [--store URL] [--json]\n"

HEAD = f"""\
{USAGE}
Messaging and coordination for LLM agents.
"""

DAILY: Final[Mapping[str, Sequence[str]]] = {
    "Set up": ("init", "join"),
    "Talk": ("send", "ask", "reply", "inbox", "owed"),
    "Delegate": ("delegate", "work", "tasks"),
    "Check": ("status", "top", "gate", "log", "doctor"),
}
"""The verbs of every day, by purpose: the first page. With the text around them it fits 24 lines of 80 columns."""

FOOT = """\
`covey help start` shows the first steps, `covey help all` lists all verbs and
topics, `covey help NAME` explains one of them."""

TAIL = """\
The space: --store URL or COVEY_STORE, else the nearest .covey/covey.db upwards,
  else ~/.covey/covey.db.
The acting agent: --as NAME or COVEY_AGENT. A session that joined proves itself
  by COVEY_SESSION.
Exit codes: 0 done, 1 refused, 2 usage, 3 not found, 4 unavailable.
"""

ALL: Final = "all"
"""The topic that lists all verbs."""


def _help_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC", nargs="?", help="a verb, or one of: " + ", ".join((ALL, *TOPICS)))


def _run_help(call: Call) -> int:
    name: str | None = call.options.topic
    page = overview() if name is None else _page(call, name)
    if call.output.as_json:
        call.output.json({"topic": name, "text": page})
    else:
        call.output.text(page.rstrip("\n"))
    return DONE


HELP: Final = Verb(
    arguments=_help_arguments,
    run=_run_help,
    description="""\
Explain a verb or a topic. Without a name, show the verbs of every day.""",
    examples="""\
examples:
  covey help start
  covey help all
  covey help ledger
  covey help send""",
)


def _version_arguments(parser: ArgumentParser) -> None:
    del parser


def _run_version(call: Call) -> int:
    import apsw

    versions = {"covey": __version__, "python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}
    if call.output.as_json:
        call.output.json(versions)
    else:
        call.output.text(f"covey {__version__} (Python {versions['python']}, SQLite {versions['sqlite']})")
    return 0


VERSION: Final = Verb(
    arguments=_version_arguments,
    run=_run_version,
)


def overview() -> str:
    """Return the first page of the help: the verbs of every day."""
    lines = [HEAD]
    for purpose, verbs in DAILY.items():
        for n, verb in enumerate(verbs):
            lines.append(f"{'' if n else purpose:<10}{verb:<10}{VERBS[verb].summary}")
    return "\n".join([*lines, "", FOOT])


def all_verbs() -> str:
    """Return the list of all verbs, by group, and of the topics."""
    lines = [USAGE]
    for group in GROUPS:
        members = [(verb, entry.summary) for verb, entry in VERBS.items() if entry.group == group]
        if members:
            width = max(12, *(len(verb) for verb, _ in members))
            lines += [f"{group}:", *(f"  {verb:<{width}} {summary}" for verb, summary in members), ""]
    topics = f"`covey help VERB` explains a verb, `covey help TOPIC` a topic: {', '.join(TOPICS)}."
    return "\n".join([*lines, TAIL, reflowed(topics, WIDTH)])


def _page(call: Call, name: str) -> str:
    if name == ALL:
        return all_verbs()
    if name in TOPICS:
        also = f"\n`covey {name} --help` explains the verb.\n" if name in VERBS else ""
        return topic(name) + also
    if name in VERBS:
        return call.parser_of(name).format_help()
    near = closest(name, {ALL, *TOPICS, *VERBS})
    hint = f"did you mean {' or '.join(near)}?" if near else "`covey help all` lists the verbs and the topics"
    raise Invalid("topic", name, hint)
