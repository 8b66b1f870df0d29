"""The MCP server on stdio, compared with the SDK's bare server and a tool that does nothing."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.cold import command
from bench.figures import Row, ms, percentile

WARM_UP = 20
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
BARE = [sys.executable, "-m", "bench.mcp_bare"]

Call = tuple[str, dict[str, str]]
EMPTY: Call = ("empty", {})
SEND: Call = ("send_message", {"to": "critic", "message": "The parser is done."})
LOOK: Call = ("list_agents", {})


class Server:
    """A running server with a client that makes one call at a time."""

    def __init__(self, words: list[str], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._ask("initialize", HELLO)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def call(self, tool: Call) -> float:
        """Call a tool. Return the duration of the call."""
        began = time.perf_counter()
        answer = self._ask("tools/call", {"name": tool[0], "arguments": tool[1]})
        took = time.perf_counter() - began
        if answer.get("isError"):
            raise SystemExit(f"{tool[0]} was refused: {answer}")
        return took

    def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())["result"]


def environment_of(folder: Path, synchronous: str) -> dict[str, str]:
    """Return the environment of a server with a separate space. The space has an agent that can receive messages."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVEY_")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    environment["COVEY_STORE"] = f"sqlite:{folder}/{synchronous}.db?synchronous={synchronous}"
    send = [*command(), "send", "hello", "--from", "lead", "--to", "critic", "--register"]
    subprocess.run(send, env=environment, stdout=subprocess.DEVNULL, check=True)
    return environment


def mcp_call(folder: Path, repeats: int) -> Row:
    """Call three tools alternately: one that does nothing, one that sends and one that lists agents."""
    normal, full = environment_of(folder, "normal"), environment_of(folder, "full")
    covey = [*command(), "mcp", "--agent", "coder"]
    took: dict[str, list[float]] = {name: [] for name in ("empty", "send", "send_full", "look")}
    with Server(BARE, normal) as bare, Server(covey, normal) as quick, Server(covey, full) as durable:
        for _ in range(WARM_UP + repeats):
            took["empty"].append(bare.call(EMPTY))
            took["send"].append(quick.call(SEND))
            took["send_full"].append(durable.call(SEND))
            took["look"].append(quick.call(LOOK))
    p50 = {name: percentile(times[WARM_UP:], 0.5) for name, times in took.items()}
    empty = p50["empty"]
    return Row(
        "send_message over MCP, stdio",
        f"p50 {ms(p50['send'])} (FULL {ms(p50['send_full'])}, list_agents {ms(p50['look'])}); empty tool {ms(empty)}",
        f"{p50['send'] / empty:.2f} × an empty tool of the SDK, FULL {p50['send_full'] / empty:.2f} ×",
        "at most 1.5 ×; FULL reported",
        p50,
    )


def mcp_start(folder: Path, repeats: int) -> Row:
    """Start both servers alternately, each until its first answer."""
    environment = environment_of(folder, "full")
    took: dict[str, list[float]] = {"bare": [], "covey": []}
    for _ in range(1 + repeats):
        for name, words in (("bare", BARE), ("covey", [*command(), "mcp", "--agent", "coder"])):
            began = time.perf_counter()
            with Server(words, environment):
                took[name].append(time.perf_counter() - began)
    p50 = {name: percentile(times[1:], 0.5) for name, times in took.items()}
    return Row(
        "`covey mcp`, start to first answer",
        f"p50 {ms(p50['covey'])}; the SDK's bare server {ms(p50['bare'])}",
        f"{p50['covey'] / p50['bare']:.2f} × the bare server",
        "reported",
        p50,
    )
