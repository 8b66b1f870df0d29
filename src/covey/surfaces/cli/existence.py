"""Existence: a verb needs a space that is there, unless it makes one; and a person hears which space is meant."""

import os

from covey.core.errors import SpaceMissing
from covey.core.store_url import Engine, StoreUrl
from covey.surfaces.cli.call import Call
from covey.surfaces.cli.catalogue import Use
from covey.wiring import is_fallback, is_there


def check_space(call: Call, use: Use) -> None:
    """Raise SpaceMissing where a verb needs a space and there is none. Nothing is made. Where the space of the home
    folder is used from another folder, say so."""
    if use in (Use.NOTHING, Use.EXAMINES):
        return
    is_named = bool(call.options.store or os.environ.get("COVEY_STORE"))
    is_from_home = not is_named and is_fallback(call.url)
    if is_from_home and use is Use.GUARDS:
        raise SpaceMissing(
            str(call.url), "the gate does not use the home folder's space from elsewhere; `covey init` makes one here"
        )
    call.is_first = not is_there(call.url)
    if call.is_first and use is not Use.MAKES:
        from shlex import quote  # here because a space is seldom missing

        if call.url.engine is Engine.MEMORY:
            raise SpaceMissing(str(call.url), "it begins empty with each command, and ends with it")
        command = f"`covey init --store {quote(_offered(call.url))}`" if is_named else "`covey init`"
        why = "it has not been made" if is_named else "this folder is in no space, and none was named"
        raise SpaceMissing(str(call.url), f"{why}; {command} makes one{'' if is_named else ' here'}")
    if is_from_home and not call.is_first:
        call.output.note(f"covey: this folder is in no space; using {call.url}")


def _offered(url: StoreUrl) -> str:
    """Return the URL as `covey init` takes it: a new shared folder needs a layout."""
    needs_layout = url.engine is Engine.FILES and "layout" not in url.options
    return f"{url}?layout=dialogue" if needs_layout and not os.path.isdir(url.place) else str(url)  # noqa: PTH112
