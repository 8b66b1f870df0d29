"""The toolkits reference: it agrees with the tools, and the commands of the how-to run."""

import json
from pathlib import Path

from covey.surfaces.cli.exits import DONE
from covey.toolkits.catalogue import HOMES, toolkit
from covey.toolkits.schemas import schemas
from tests.docs.shell import run_commands
from tools.toolkits_page import FORMS, PAGE, page

HOW_TO = PAGE.parents[1] / "how-to" / "give-a-model-tools.md"


def test_the_page_agrees_with_the_tools() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python tools/toolkits_page.py`"


def test_every_tool_has_its_section() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for name in HOMES:
        assert lines.count(f"## {name}") == 1
        for tool in toolkit(name).tools:
            assert f"### {tool.name}" in lines


def test_every_form_of_a_parameter_has_a_word() -> None:
    used = {parameter.form for name in HOMES for tool in toolkit(name).tools for parameter in tool.parameters}
    assert used <= set(FORMS)


def test_the_commands_of_the_how_to_run(tmp_path: Path) -> None:
    said = run_commands(HOW_TO.read_text(encoding="utf-8"), tmp_path)
    assert said.code == DONE, said
    assert "list_agents" in said.out
    assert json.loads((tmp_path / "tools.json").read_text()) == schemas(toolkit("native"), "openai")
