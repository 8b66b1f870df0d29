"""covey init."""

import os
from argparse import ArgumentParser

from covey.core.store_url import Engine, StoreUrl
from covey.services.space import Services
from covey.surfaces.cli.call import Call
from covey.wiring import STORE_FILE, STORE_FOLDER

DESCRIPTION = "Make a space in this folder: .covey/covey.db, which git does not see. One that is there is left alone."


def arguments(parser: ArgumentParser) -> None:
    del parser


def run(call: Call) -> int:
    if call.options.store is None:
        place = os.path.join(os.getcwd(), STORE_FOLDER, STORE_FILE)  # noqa: PTH109, PTH118 - as in wiring
        call.open(StoreUrl(Engine.SQLITE, place, {}))
    position = call.run(Services(call.ports).history.last())  # a space that is made now has no tokens to ask for
    if call.output.as_json:
        call.output.json({"store": str(call.url), "events": position})
    else:
        call.output.text(f"{call.url} is ready. Next: covey send --from me --to you 'hello' --register")
    return 0
