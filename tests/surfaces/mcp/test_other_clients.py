"""Third-party clients: version 1.x of the SDK in its own environment, and the MCP inspector."""

import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from covey.surfaces.cli.exits import DONE
from covey.toolkits.catalogue import toolkit
from tests.surfaces.commands import Folder
from tests.surfaces.mcp.node import script
from tests.surfaces.mcp.serving import bearer, http_server
from tests.surfaces.mcp.speaking import Speaker

ROOT = Path(__file__).parents[3]
OLDER = "1.30.0"
INSTALL_LIMIT_S = 200.0

TOOL_IS_ERROR = 5
"""The inspector's exit code for a call that a tool refused."""

COVEY_MCP = (sys.executable, "-m", "covey", "mcp")


@pytest.fixture(scope="session")
def older_python() -> Path:
    """A Python with version 1.x of the SDK. It is created once and kept in the environment that runs the tests."""
    home = Path(sys.prefix) / f"mcp-{OLDER}"
    python, made = home / "bin" / "python", home / ".installed"
    if not made.exists():
        venv.create(home, clear=True, with_pip=False)
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", f"mcp=={OLDER}"]
        done = subprocess.run(pip, capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False)
        if done.returncode != 0:
            pytest.skip(f"mcp {OLDER} can't be installed: {done.stderr.strip().splitlines()[-1]}")
        made.touch()
    return python


def check_older(folder: Folder, python: Path, *words: str) -> None:
    """Run a client of 1.x, and check what it received."""
    program = Path(__file__).with_name("older_client.py")
    said = folder.run([str(python), "-I", str(program), *words])
    assert said.code == DONE, said.err
    seen: dict[str, Any] = said.json
    assert seen["sdk"] == OLDER
    assert seen["protocol"] == "2025-11-25"
    assert "<covey-mail>" in seen["instructions"]
    assert seen["tools"] == [tool.name for tool in toolkit("native").tools]
    answer, mail = seen["agents"]
    assert answer.startswith("You are coder.")
    assert "  hello" in mail
    assert seen["data"]["you"] == "coder"
    assert seen["wrong"] is True
    assert seen["heard"] == "covey://agents"
    assert "  hello" in seen["inbox"]


@pytest.mark.timeout(INSTALL_LIMIT_S + 40)
def test_the_sdks_older_client_works_over_stdio(folder: Folder, older_python: Path) -> None:
    folder.covey("send", "--from", "lead", "--to", "coder", "--register", "hello")
    check_older(folder, older_python, "stdio", *COVEY_MCP, "--agent", "coder")


@pytest.mark.timeout(INSTALL_LIMIT_S + 40)
def test_the_sdks_older_client_works_over_http(folder: Folder, older_python: Path) -> None:
    with http_server(folder) as server:
        token = server.token("coder", "--register")
        folder.covey("send", "--from", "lead", "--to", "coder", "hello")
        check_older(folder, older_python, "http", server.url, token)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18"])
def test_every_older_protocol_version_is_supported(folder: Folder, version: str) -> None:
    with Speaker(folder, "--agent", "coder", version=version) as speaker:
        assert speaker.initialized["protocolVersion"] == version
        assert speaker.call("list_agents").startswith("You are coder.")


def inspect(folder: Folder, *words: str, code: int = DONE) -> Any:
    """Run the inspector's command line; return the JSON that it prints."""
    said = folder.run([*script("inspector"), "--cli", *words])
    assert said.code == code, said.err
    return said.json


def over_stdio(folder: Folder) -> Sequence[str]:
    environment = {**folder.environment, "COVEY_AGENT": "coder"}
    return *(word for item in environment.items() for word in ("-e", "=".join(item))), *COVEY_MCP


def test_the_inspector_lists_calls_and_reads_over_stdio(folder: Folder) -> None:
    folder.covey("send", "--from", "lead", "--to", "coder", "--register", "hello")
    server = over_stdio(folder)
    listed = inspect(folder, *server, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in toolkit("native").tools]
    called = inspect(folder, *server, "--method", "tools/call", "--tool-name", "list_agents")
    assert called["content"][0]["text"].startswith("You are coder.")
    assert "  hello" in called["content"][1]["text"]
    words = ("--method", "tools/call", "--tool-name", "send_message", "--tool-arg", "to=lead")
    assert inspect(folder, *server, *words, code=TOOL_IS_ERROR)["isError"] is True
    inbox = inspect(folder, *server, "--method", "resources/read", "--uri", "covey://inbox")
    assert "  hello" in inbox["contents"][0]["text"]


def test_the_inspector_calls_over_http(folder: Folder) -> None:
    with http_server(folder) as server:
        (header,) = bearer(server.token("coder", "--register")).items()
        words = (server.url, "--transport", "http", "--header", ": ".join(header))
        called = inspect(folder, *words, "--method", "tools/call", "--tool-name", "list_agents")
    assert called["content"][0]["text"].startswith("You are coder.")
