"""covey init."""

import os
from argparse import ArgumentParser
from shlex import quote

from covey.core.store_url import Engine, StoreUrl
from covey.services.space import Services
from covey.surfaces.cli.call import Call
from covey.wiring import STORE_FILE, STORE_FOLDER

DESCRIPTION = """\
Make a space in this folder: .covey/covey.db, which git does not see. One that
is there is left alone. With --store files:PATH its messages are files as well,
in a folder that people read and other programs share. Its layout is that of
agent loops (dialogue: inbox/AGENT/ID.json) or that of mailboxes (mailbox:
AGENT/inbox/...msg.json); a folder that is in use by such programs has one."""
EXAMPLES = """\
examples:
  covey init
  covey init --store sqlite:elsewhere/covey.db
  covey init --store 'files:messages?layout=dialogue'
  covey init --store files:~/.nanobot/mailboxes"""


def arguments(parser: ArgumentParser) -> None:
    del parser


def run(call: Call) -> int:
    if call.options.store is None:
        place = os.path.join(os.getcwd(), STORE_FOLDER, STORE_FILE)  # noqa: PTH109, PTH118 - as in wiring
        call.open(StoreUrl(Engine.SQLITE, place, {}))
    call.is_first = False  # the line below says so
    position = call.run(Services(call.ports).history.last())  # a space that is made now has no tokens to ask for
    if call.output.as_json:
        call.output.json({"store": str(call.url), "events": position})
    else:
        here = "" if call.options.store is None else f" --store {quote(str(call.url))}"
        call.output.text(f"{call.url} is ready. Next: covey send --from me --to you 'hello' --register{here}")
    return 0
