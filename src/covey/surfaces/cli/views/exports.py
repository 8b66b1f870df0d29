"""Exports: the environment that makes a shell act as a session, and the lines that set and unset it."""

import shlex
from collections.abc import Mapping
from typing import Final

from covey.core.store_url import StoreUrl
from covey.engines import engine_of
from covey.services.directory.directory import Joined

NAMES: Final = ("COVEY_SESSION", "COVEY_AGENT", "COVEY_STORE")


def environment(joined: Joined, url: StoreUrl) -> Mapping[str, str]:
    """Return the variables that a shell exports to act as the session.

    The store is one of them: only that store knows the session, whatever folder the shell is in.
    """
    values = (f"{joined.session.id}:{joined.secret}", joined.session.agent, engine_of(url).absolute(url).with_login())
    return dict(zip(NAMES, values, strict=True))


def export_line(name: str, value: str, width: int) -> str:
    """Return the line that exports a variable, broken in two if it is wider than the terminal."""
    line = f"export {name}={shlex.quote(value)}"
    cut = line.find(":") + 1
    return line if len(line) <= width or not cut else f"{line[:cut]}\\\n{line[cut:]}"


def unset_line() -> str:
    """Return the line that unsets all variables of a session."""
    return "unset " + " ".join(NAMES)
