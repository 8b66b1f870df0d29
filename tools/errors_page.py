"""Write the reference of errors from the error tree: `python tools/errors_page.py`."""

import inspect
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Final

from covey import adapters
from covey.core import errors
from covey.core.directory.routing import RefusalCode
from covey.core.errors import CoveyError, NotFound, Rejected, Unavailable

PAGE: Final = Path(__file__).parent.parent / "docs" / "reference" / "errors.md"

HEAD: Final = """\
# Errors and refusals

This page is made from the code by `python tools/errors_page.py`; a test compares them.

Every error of Covey is a `covey.CoveyError`. It has a stable `code` that programs may depend on, a `message` for
people, `details` for programs, `advice` on what to do next, and `retryable`. Three branches answer the caller's only
question: does a retry help? The classes below are in `covey.core.errors`, unless another module is named.

Expected outcomes are not errors: a wait that timed out, an ask without an answer, a gate that has not passed and a
recipient that refuses are values.
"""

BRANCHES: Final[Mapping[type[CoveyError], str]] = {
    Rejected: "The request is wrong; a retry will not help.",
    NotFound: "The named object does not exist.",
    Unavailable: "The space can't answer now. Where *retry* says yes, the same call may succeed later.",
}

REFUSALS: Final[Mapping[RefusalCode, str]] = {
    RefusalCode.NOT_ALLOWED: "The sender's `allowed_delegates` or the recipient's `allow_from` forbids it.",
    RefusalCode.CIRCULAR_ROUTE: "The message has already passed through that agent.",
    RefusalCode.NO_LIVE_SESSION: 'The recipient has no live session, and the sender said `when_offline="refuse"`.',
    RefusalCode.INBOX_FULL: "The inbox is full, and its policy is to keep the queued messages.",
    RefusalCode.OVER_QUOTA: "The agent has as many tasks as its quota, and its card says `reject`; or its quota is 0.",
}

REFUSALS_HEAD: Final = """
## Refusals

A message may reach some recipients and not others. So a recipient that does not get it is a line of the receipt
(`receipt.refused`), and the delivery's `reason` begins with one of these codes.

| code | meaning |
|---|---|
"""

_TREE_LINE: Final = re.compile(r"^[│├└─ ]+(?P<name>[A-Z]\w+) {2,}(?P<meaning>\S.*)$", re.MULTILINE)


def page() -> str:
    """Return the page."""
    meanings = {match["name"]: match["meaning"] for match in _TREE_LINE.finditer(errors.__doc__ or "")}
    _import_adapters()
    sections = [HEAD]
    for branch, meaning in BRANCHES.items():
        sections.append(f"\n## {branch.__name__}\n\n{meaning}\n\n| code | class | meaning | what to do | retry |\n")
        sections.append("|---|---|---|---|---|\n")
        sections += [_row(leaf, meanings) for leaf in leaves(branch)]
    sections.append(REFUSALS_HEAD)
    sections += [f"| `{code}` | {REFUSALS[code]} |\n" for code in RefusalCode]
    return "".join(sections)


def leaves(branch: type[CoveyError]) -> Iterator[type[CoveyError]]:
    """Yield the errors under a branch: those of the core in the order of the tree, then those of the adapters."""
    for error in sorted(branch.__subclasses__(), key=_home):
        if error.__module__.startswith(("covey.core.", "covey.adapters.")):
            yield error
            yield from leaves(error)


def _home(error: type[CoveyError]) -> str:
    """Return the module that defines an error; "" for the core, which sorts first."""
    return "" if error.__module__ == errors.__name__ else error.__module__


def _import_adapters() -> None:
    """Import all adapters, so that their errors are known."""
    for module in walk_packages(adapters.__path__, f"{adapters.__name__}."):
        import_module(module.name)


def _row(error: type[CoveyError], meanings: Mapping[str, str]) -> str:
    meaning = meanings.get(error.__name__) or inspect.cleandoc(error.__dict__.get("__doc__") or "").partition("\n")[0]
    if not meaning or not error.advice:
        raise ValueError(f"{error.__qualname__} does not say what it means, or what to do")
    home = f" (`{_home(error)}`)" if _home(error) else ""
    cells = (f"`{error.code}`", f"`{error.__name__}`{home}", _sentence(meaning), error.advice)
    return f"| {' | '.join(cells)} | {'yes' if error.retryable else 'no'} |\n"


def _sentence(text: str) -> str:
    """Return a line of the tree as a sentence, without its hint on retrying, which has a column."""
    text = re.sub(r" \(retry.*\)$", "", text).rstrip(".")
    return f"{text[0].upper()}{text[1:]}."


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
