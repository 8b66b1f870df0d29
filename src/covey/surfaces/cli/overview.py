"""The overview: the text of `covey` and `covey --help`, with the first steps and the list of verbs."""

from covey.surfaces.cli.catalogue import GROUPS, VERBS
from covey.surfaces.cli.terminal.letters import reflowed
from covey.surfaces.cli.topics import TOPICS

WIDTH = 78

HEAD = """\
usage: covey VERB … [--json] [--store URL] [--agent NAME]

Messaging and coordination for LLM agents: names, inboxes, questions that must
be answered, and proof of what was read.

First steps, in a folder of your own (`covey help start` explains them):
  covey init
  covey send "Which?" --from lead --to coder --request --scope T-1 --register
  covey inbox coder
  covey reply 1 "The new one." --from coder
  covey archive 1 --agent coder
  covey gate T-1
"""

TAIL = """\
Where: --store URL or COVEY_STORE; else the nearest .covey/covey.db upwards,
  else ~/.covey/covey.db. A space in memory: ends with the command.
Who: --agent NAME or COVEY_AGENT; a session that joined proves itself by
  COVEY_SESSION.
Exit codes: 0 done, 1 refused, 2 usage, 3 not found, 4 unavailable.
"""


def overview() -> str:
    """Return the help of the whole command."""
    lines = [HEAD]
    for group in GROUPS:
        members = [(verb, entry.summary) for verb, entry in VERBS.items() if entry.group == group]
        if members:
            width = max(12, *(len(verb) for verb, _ in members))
            lines += [f"{group}:", *(f"  {verb:<{width}} {summary}" for verb, summary in members), ""]
    topics = f"`covey help VERB` explains a verb, `covey help TOPIC` a topic: {', '.join(TOPICS)}."
    return "\n".join([*lines, TAIL, reflowed(topics, WIDTH)])
