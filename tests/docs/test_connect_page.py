"""The how-to on MCP clients: its configurations are well-formed, and their servers start."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from covey.core.http import HttpAddress
from covey.surfaces.mcp.server import BUDGET
from covey.toolkits.arguments import LONGEST_WAIT
from tests.surfaces.commands import Folder

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "connect-an-mcp-client.md"
TEXT = PAGE.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def servers() -> Iterator[Mapping[str, Any]]:
    """Yield every server entry in a configuration of the page."""
    for read, language in ((json.loads, "json"), (tomllib.loads, "toml")):
        for block in blocks(language):
            ((key, entries),) = cast(dict[str, dict[str, Any]], read(block)).items()
            assert key in ("mcpServers", "mcp", "mcp_servers")
            yield entries["covey"]


def test_every_server_of_a_client_configuration_starts(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    started = [entry for entry in servers() if "command" in entry]
    assert len(started) == 3
    for entry in started:
        command: list[str] = [entry["command"], *entry["args"]] if "args" in entry else entry["command"]
        said = folder.run(command, **(entry.get("env") or entry["environment"]))
        assert said.code == 0, said.err
    (agent,) = folder.covey("agents", "--json").json
    assert agent["agent"] == "coder"


def test_the_numbers_and_the_address_are_those_of_the_program() -> None:
    (connecting,) = [entry for entry in servers() if "url" in entry]
    assert connecting["url"] == f"http://{HttpAddress()}/mcp"
    assert f"at most {BUDGET:,}\ncharacters" in TEXT
    assert f"up to {LONGEST_WAIT:.0f} seconds" in TEXT
