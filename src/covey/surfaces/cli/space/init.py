"""The verb `init`."""

import os
from argparse import ArgumentParser
from shlex import quote
from typing import Final

from covey.engines import space_in
from covey.services.space import Services
from covey.surfaces.cli.call import Call, Verb


def _init_arguments(parser: ArgumentParser) -> None:
    del parser


def _run_init(call: Call) -> int:
    if call.options.store is None:
        call.open(space_in(os.getcwd()))  # noqa: PTH109 - as in covey.engines
    call.is_first = False  # the output below says so
    position = call.run(Services(call.ports).history.last())  # not narrowed by a token: a new space has none to check
    if call.output.as_json:
        call.output.json({"store": str(call.url), "events": position})
    else:
        here = "" if call.options.store is None else f" --store {quote(str(call.url))}"
        call.output.text(f"{call.url} is ready. Next: covey send you 'hello' --as me --register{here}")
    return 0


INIT: Final = Verb(
    arguments=_init_arguments,
    run=_run_init,
    description="""\
Make a space in this folder: .covey/covey.db, which git does not see. One that
is there is left alone. With --store files:PATH its messages are files as well,
in a folder that people read and other programs share. Its layout is that of
agent loops (dialogue: inbox/AGENT/ID.json) or that of mailboxes (mailbox:
AGENT/inbox/...msg.json); a folder that is in use by such programs has one.""",
    examples="""\
examples:
  covey init
  covey init --store sqlite:elsewhere/covey.db
  covey init --store 'files:messages?layout=dialogue'
  covey init --store files:~/.nanobot/mailboxes""",
)
