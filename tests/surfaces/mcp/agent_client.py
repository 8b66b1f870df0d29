"""An agent client as a process. It starts `covey mcp`, runs hooks through a shell, and obeys the orders of a test."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tests.adapters.children import Child, child
from tests.surfaces.commands import Folder

PROGRAM = "from tests.surfaces.mcp.agent_client import main; main()"

SERVER = [sys.executable, "-m", "covey", "mcp"]
HOOK = [sys.executable, "-m", "tests.surfaces.mcp.hook"]
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class AgentClient:
    """The test's handle of such a process."""

    def __init__(self, process: Child) -> None:
        self._process = process
        self.kill = process.kill

    def order(self, order: str) -> Any:
        """Give an order: start or kill the server, run a hook, or call a tool; return the answer."""
        self._process.say(order)
        return json.loads(self._process.line())


@contextmanager
def agent_client(folder: Folder) -> Generator[AgentClient]:
    """Start a client that works in a folder."""
    with child(PROGRAM, str(folder.path)) as process:
        yield AgentClient(process)


class Server:
    """The MCP server of a client."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask("initialize", HELLO)

    def kill(self) -> None:
        """Kill the server without a shutdown."""
        self._process.kill()
        self._process.wait()

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())["result"]


def main() -> None:
    """Carry out one order per line, and answer each with one line."""
    os.environ["COVEY_STORE"] = f"sqlite:{sys.argv[1]}/.covey/covey.db"
    server: Server | None = None
    for order in map(str.strip, sys.stdin):
        answer: Any = None
        if order == "start":
            server = Server()
        elif order == "kill":
            assert server is not None
            server.kill()
        elif order == "hook":
            through_a_shell = ["sh", "-c", '"$@"; exit', "sh", *HOOK]
            answer = json.loads(subprocess.run(through_a_shell, stdout=subprocess.PIPE, check=True).stdout)
        else:
            assert server is not None
            result = server.ask("tools/call", {"name": order})
            answer = "\n\n".join(block["text"] for block in result["content"])
        print(json.dumps(answer), flush=True)
