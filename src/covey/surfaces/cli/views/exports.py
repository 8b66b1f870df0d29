"""Exports: the environment that makes a shell act as a session, and how a shell takes it on or lets it go."""

import shlex
from collections.abc import Mapping
from typing import Final

from covey.core.store_url import StoreUrl
from covey.engines import engine_of
from covey.services.directory.directory import Joined

NAMES: Final = ("COVEY_SESSION", "COVEY_AGENT", "COVEY_STORE")


def environment(joined: Joined, url: StoreUrl) -> Mapping[str, str]:
    """Return what a shell exports to act as the session. The store goes along: the session is known in no other one,
    whatever folder the shell is in."""
    values = (f"{joined.session.id}:{joined.secret}", joined.session.agent, engine_of(url).absolute(url).with_login())
    return dict(zip(NAMES, values, strict=True))


def export_line(name: str, value: str, width: int) -> str:
    """Return what a shell evaluates to take a variable on: one line, or two where it is too wide to be looked at."""
    line = f"export {name}={shlex.quote(value)}"
    cut = line.find(":") + 1
    return line if len(line) <= width or not cut else f"{line[:cut]}\\\n{line[cut:]}"


def unset_line() -> str:
    """Return what a shell evaluates to let go of all of it."""
    return "unset " + " ".join(NAMES)
