"""Snippets: the Python blocks of a Markdown page, run one after the other as one program.

A block that awaits at its top level runs on the page's event loop, any other as a plain script. What a block prints is
compared with its comments that begin with an arrow, in their order; … in them stands for anything:

    print(receipt)  # → <Receipt … critic: queued>

A comment on the line before a block says that the block is not run: <!-- no-run: reason -->, or that it is a file
which later blocks use: <!-- file: critic.py -->
"""

import ast
import asyncio
import inspect
import io
import re
import tokenize
from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager, redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

ARROW: Final = "# → "
_FENCE: Final = re.compile(r"(?P<indent>\s*)(?P<ticks>```+|~~~+)\s*(?P<language>[^\s`]*)(?P<rest>.*)")
_MARK: Final = re.compile(r"<!-- (?P<use>no-run|file): (?P<what>\S.*\S) -->")


class Use(StrEnum):
    RUN = "run"
    FILE = "file"
    NO_RUN = "no-run"


class Snippet(NamedTuple):
    page: Path
    line: int
    """Of the page, where its code begins."""
    code: str
    use: Use = Use.RUN
    what: str = ""
    """The name of the file, or the reason for which it is not run."""


def snippets(page: Path) -> Iterator[Snippet]:
    """Go through the Python blocks of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        fence = _FENCE.fullmatch(lines[number])
        number += 1
        if fence is None:
            continue
        begin = number
        while lines[number].strip() != fence["ticks"]:
            number += 1
        if fence["language"].lower().startswith("py"):
            if fence["indent"] or fence["language"] != "python" or fence["rest"].strip():
                raise ValueError(f"{page.name}:{begin}: write ```python, at the beginning of the line")
            mark = _MARK.fullmatch(lines[begin - 2]) if begin > 1 else None
            use, what = (Use(mark["use"]), mark["what"]) if mark else (Use.RUN, "")
            yield Snippet(page, begin + 1, "\n".join(lines[begin:number]) + "\n", use, what)
        number += 1


def run_page(page: Path, folder: Path) -> int:
    """Run all snippets of a page, which works in `folder`; return how many there were to run."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    with asyncio.Runner() as runner, _ending_processes(namespace):
        for snippet in snippets(page):
            if snippet.use is Use.FILE:
                (folder / snippet.what).write_text(snippet.code, encoding="utf-8")
            elif snippet.use is Use.RUN:
                _run(snippet, namespace, runner)
                count += 1
        left = asyncio.all_tasks(runner.get_loop())
        assert not left, f"{page.name} left tasks running: {left}"
    return count


@contextmanager
def _ending_processes(namespace: dict[str, Any]) -> Generator[None]:
    """Kill what a page that failed has started and not ended."""
    try:
        yield
    finally:
        for value in namespace.values():
            if isinstance(value, asyncio.subprocess.Process) and value.returncode is None:
                value.kill()


def _run(snippet: Snippet, namespace: dict[str, Any], runner: asyncio.Runner) -> None:
    # As many lines before the code as on the page: a traceback then shows the page's own.
    source = "\n" * (snippet.line - 1) + snippet.code
    code = compile(source, str(snippet.page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with redirect_stdout(io.StringIO()) as printed:
        if code.co_flags & inspect.CO_COROUTINE:
            runner.run(cast(Coroutine[Any, Any, None], eval(code, namespace)))
        else:
            exec(code, namespace)
    _compare(snippet, printed.getvalue())


def _compare(snippet: Snippet, printed: str) -> None:
    """Fail where a snippet printed something else than its arrows say."""
    shown = "".join(f"{line}\n" for line in arrows(snippet.code))
    pattern = ".*".join(re.escape(text) for text in shown.split("…"))
    assert re.fullmatch(pattern, printed), (
        f"{snippet.page.name}:{snippet.line}: the page shows\n{shown}but the snippet printed\n{printed}"
    )


def arrows(code: str) -> Iterator[str]:
    """Go through what the comments of `code` say that it prints."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT and token.string.startswith(ARROW):
            yield token.string.removeprefix(ARROW)
