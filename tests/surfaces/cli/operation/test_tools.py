"""`covey tools`: the tools for a model, as a table for people and as JSON for requests."""

import json
from pathlib import Path

import pytest

from covey.surfaces.cli.exits import DONE, USAGE
from covey.toolkits.catalogue import HOMES, toolkit
from covey.toolkits.schemas import FORMATS, schemas, size
from tests.surfaces.commands import Folder
from tests.surfaces.conftest import Covey
from tests.surfaces.terminal import Terminal


@pytest.mark.parametrize("kit", [*HOMES, "peers,broadcast"])
def test_the_table_shows_each_tool_with_its_bytes(covey: Covey, kit: str) -> None:
    said = covey("tools", "--toolkit", kit)
    head, *lines, empty, total = said.out.splitlines()
    assert said.code == DONE
    assert head.split() == ["tool", "bytes", "what", "it", "does"]
    names, bytes_ = zip(*(line.split()[:2] for line in lines), strict=True)
    assert names == tuple(tool.name for tool in toolkit(kit).tools)
    assert not empty
    assert total == f"{kit} takes {size(toolkit(kit)):,} bytes in all."
    commas_and_brackets = len(lines) + 1
    assert sum(int(count.replace(",", "")) for count in bytes_) + commas_and_brackets == size(toolkit(kit))
    others = said.err.removeprefix("Others: ").rstrip(".\n").split(", ")
    assert set(others) | set(kit.split(",")) == set(HOMES)


@pytest.mark.parametrize("form", FORMATS)
def test_with_a_format_the_tools_are_written_as_a_request_declares_them(covey: Covey, form: str) -> None:
    said = covey("tools", "--format", form)
    assert (said.code, said.err) == (DONE, "")
    assert said.json == schemas(toolkit(), form)
    assert covey("tools", "--format", form, "--json").out == said.out


def test_json_alone_is_the_default_toolkit_in_the_default_format(covey: Covey) -> None:
    assert covey("tools", "--json").json == schemas(toolkit("native"), "anthropic")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--toolkit", "nativ"], "did you mean native?"),
        (["--toolkit", "zzz"], "use native, peers, dialogue, broadcast, mailbox"),
        (["--toolkit", ""], "use native, peers"),
        (["--toolkit", "native,mailbox"], "native and mailbox both have list_agents: use one"),
        (["--format", "gemini"], "invalid choice: 'gemini'"),
        (["native"], "unrecognized arguments: native"),
    ],
)
def test_a_wrong_option_is_explained(covey: Covey, words: list[str], told: str) -> None:
    said = covey("tools", *words)
    assert (said.code, said.out) == (USAGE, "")
    assert told in said.err
    assert told in covey("tools", *words, "--json").json["error"]["message"]


def test_the_tools_need_no_space_and_create_none(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    said = folder.covey("tools", "--toolkit", "dialogue", "--format", "openai")
    assert (said.code, said.err) == (DONE, "")
    assert json.loads(said.out)[0]["function"]["name"] == "messages_send"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kit", [*HOMES, "peers,broadcast"])
def test_the_table_fits_a_terminal(folder: Folder, kit: str) -> None:
    with Terminal(["tools", "--toolkit", kit], folder.path, folder.environment) as terminal:
        terminal.ends_with(DONE)
    terminal.check_fits()
