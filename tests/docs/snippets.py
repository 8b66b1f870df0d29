"""Blocks of a Markdown page, and its Python blocks as snippets, run one after the other as one program.

A block that awaits at its top level runs on the page's event loop, any other as a plain script. The output of a block
is compared with its comments that begin with an arrow, in order; … in a comment stands for anything:

    print(receipt)  # → <Receipt … critic: queued>

A comment on the line before a block marks a block that is not run: <!-- no-run: reason -->, or one that is a file for
later blocks: <!-- file: critic.py -->. In a console block the comment names the terminal: <!-- terminal: 2 -->
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
_MARK: Final = re.compile(r"<!-- (?P<use>no-run|file|terminal): (?P<what>\S.*?) -->")


class Use(StrEnum):
    RUN = "run"
    FILE = "file"
    NO_RUN = "no-run"
    TERMINAL = "terminal"


class Block(NamedTuple):
    page: Path
    line: int
    """The line of the page on which the code begins."""
    code: str
    use: Use = Use.RUN
    what: str = ""
    """The name of the file or of the terminal, or the reason why the block is not run."""
    language: str = "python"


def snippets(page: Path) -> Iterator[Block]:
    """Yield the Python blocks of a page."""
    return (block for block in blocks(page) if block.language == "python")


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
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
        is_plain = fence["language"] == "python" and not fence["indent"] and not fence["rest"].strip()
        if fence["language"].lower().startswith("py") and not is_plain:
            raise ValueError(f"{page.name}:{begin}: write ```python, at the beginning of the line")
        mark = _MARK.fullmatch(lines[begin - 2]) if begin > 1 else None
        use, what = (Use(mark["use"]), mark["what"]) if mark else (Use.RUN, "")
        code = "".join(f"{line}\n" for line in lines[begin:number])
        yield Block(page, begin + 1, code, use, what, fence["language"])
        number += 1


def run_page(page: Path, folder: Path) -> int:
    """Run all snippets of a page in `folder`. Return the number of snippets that were run."""
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
    """Kill the processes that a failed page has left running."""
    try:
        yield
    finally:
        for value in namespace.values():
            if isinstance(value, asyncio.subprocess.Process) and value.returncode is None:
                value.kill()


def _run(snippet: Block, namespace: dict[str, Any], runner: asyncio.Runner) -> None:
    # The code is preceded by as many lines as on the page, so that a traceback shows line numbers of the page.
    source = "\n" * (snippet.line - 1) + snippet.code
    code = compile(source, str(snippet.page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with redirect_stdout(io.StringIO()) as printed:
        if code.co_flags & inspect.CO_COROUTINE:
            runner.run(cast(Coroutine[Any, Any, None], eval(code, namespace)))
        else:
            exec(code, namespace)
    _compare(snippet, printed.getvalue())


def _compare(snippet: Block, printed: str) -> None:
    """Fail if the output of a snippet differs from its arrows."""
    shown = "".join(f"{line}\n" for line in arrows(snippet.code))
    pattern = ".*".join(re.escape(text) for text in shown.split("…"))
    assert re.fullmatch(pattern, printed), (
        f"{snippet.page.name}:{snippet.line}: the page shows\n{shown}but the snippet printed\n{printed}"
    )


def arrows(code: str) -> Iterator[str]:
    """Yield the expected output in the comments of `code`."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT and token.string.startswith(ARROW):
            yield token.string.removeprefix(ARROW)
