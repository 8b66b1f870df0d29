"""MCP with a real process line by line, for tests that check every byte or kill the server."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from types import TracebackType
from typing import Any, Self

from tests.surfaces.commands import Folder

LIMIT_S = 20.0

NEWEST_2025 = "2025-11-25"
HELLO: dict[str, Any] = {
    "protocolVersion": NEWEST_2025,
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Speaker:
    """A client of the 2025 protocol that starts `covey mcp` in a folder. The server is killed when the block ends."""

    def __init__(self, folder: Folder, *words: str, version: str = NEWEST_2025, **environment: str) -> None:
        self._hello = {**HELLO, "protocolVersion": version}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "covey", "mcp", *words],
            cwd=folder.path,
            env={**folder.environment, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # an interrupt reaches only the server
        )
        self._text = b""
        self._id = 0

    def __enter__(self) -> Self:
        try:
            self.initialized = self.ask("initialize", self._hello)
            self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def say(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Return the result of a request. The next line must be the response."""
        self._id += 1
        self.say({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        answer = json.loads(self.line())
        assert answer["id"] == self._id
        return answer["result"]

    def call(self, tool: str, **arguments: object) -> str:
        """Return the text of a tool's result that a model reads."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return "\n\n".join(block["text"] for block in result["content"])

    def line(self) -> bytes:
        """Wait for the next line."""
        assert self.process.stdout is not None
        ends_at = time.monotonic() + LIMIT_S
        while b"\n" not in self._text:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, ends_at - time.monotonic()))
            assert ready, f"no line came within {LIMIT_S} s"
            content = os.read(self.process.stdout.fileno(), 65_536)
            assert content, f"the server ended: {self._errors()}"
            self._text += content
        line, _, self._text = self._text.partition(b"\n")
        return line

    def hang_up(self) -> int:
        """Close the server's stdin; return its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(LIMIT_S)

    def signal(self, number: signal.Signals) -> int:
        """Send a signal to the server; return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(LIMIT_S)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT_S)

    def _errors(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()
