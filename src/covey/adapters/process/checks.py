"""Validation of a program, and its translation into an order for its guardian."""

import math
import os
from collections.abc import Sequence
from typing import Final

from covey.adapters.process.guard.order import Call, Order
from covey.core.errors import Invalid
from covey.ports.launcher import RUN_VARIABLE, Program

_LONGEST_RUN: Final = 1000


def order(program: Program) -> Order:
    """Return the guardian's order for a program; raise Invalid for an unusable value."""
    _check_numbers(program)
    return Order(
        folder=absolute(program.folder),
        run=check_run(program.run),
        output_limit=program.output_limit,
        time_limit=program.time_limit,
        grace=program.grace,
        has_input=program.stdin is not None,
    )


def call(program: Program) -> Call:
    """Return the arguments of the program's `exec`; raise Invalid for an unusable value."""
    if not program.argv or not program.argv[0]:
        raise Invalid("argv", program.argv, "name a command")
    env = {**program.env, RUN_VARIABLE: check_run(program.run)}
    for name in env:
        if not name or "=" in name:
            raise Invalid("env", name, "a variable's name is not empty and has no =")
    return Call(
        cwd=_encoded("cwd", [os.path.abspath(program.cwd)])[0],
        argv=tuple(_encoded("argv", program.argv)),
        env=dict(zip(_encoded("env", [*env]), _encoded("env", [*env.values()]), strict=True)),
    )


def check_run(run: str) -> str:
    """Return the run's id if it is one printable word: processes are searched for it in their environments."""
    if not run or len(run) > _LONGEST_RUN or not run.isascii() or not run.isprintable() or " " in run:
        raise Invalid("run", run, f"use printable ASCII without spaces, at most {_LONGEST_RUN} characters")
    return run


def absolute(folder: str) -> str:
    """Return the folder's absolute path, which is the same for every process."""
    _encoded("folder", [folder])
    return os.path.abspath(folder)


def _check_numbers(program: Program) -> None:
    if program.output_limit < 0:
        raise Invalid("output_limit", program.output_limit, "it is 0 or more")
    if program.time_limit is not None and not (0 < program.time_limit < math.inf):
        raise Invalid("time_limit", program.time_limit, "it is more than 0, or None")
    if not (0 <= program.grace < math.inf):
        raise Invalid("grace", program.grace, "it is 0 or more")


def _encoded(what: str, texts: Sequence[str]) -> list[bytes]:
    encoded: list[bytes] = []
    for text in texts:
        if "\0" in text:
            raise Invalid(what, text, "no text that a program is given can have a zero byte")
        try:
            encoded.append(os.fsencode(text))
        except UnicodeEncodeError:
            raise Invalid(what, text, "it can't be written in this system's encoding") from None
    return encoded
