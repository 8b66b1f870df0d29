"""covey version."""

import platform
from argparse import ArgumentParser

from covey.surfaces.cli.call import Call
from covey.version import __version__


def arguments(parser: ArgumentParser) -> None:
    del parser


def run(call: Call) -> int:
    import apsw

    versions = {"covey": __version__, "python": platform.python_version(), "sqlite": apsw.sqlite_lib_version()}
    if call.output.as_json:
        call.output.json(versions)
    else:
        call.output.text(f"covey {__version__} (Python {versions['python']}, SQLite {versions['sqlite']})")
    return 0
