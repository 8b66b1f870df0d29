"""Write the reference of toolkits from the tools themselves: `python tools/toolkits_page.py`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from covey.toolkits.catalogue import HOMES, toolkit
from covey.toolkits.schemas import size
from covey.toolkits.tool import ParameterType, Tool, Toolkit

PAGE: Final = Path(__file__).parent.parent / "docs" / "reference" / "toolkits.md"

HEAD: Final = """\
# Toolkits

This page is made from the code by `python tools/toolkits_page.py`; a test compares them.

A toolkit is a set of tools for a model. [How to give a model tools](../how-to/give-a-model-tools.md) shows how they
are declared and called; `covey tools --toolkit NAME --format FORMAT` writes what a request declares. Several toolkits
can be used together (`peers,broadcast`) where their tools have different names.

Descriptions below are what a model reads. Parameters in bold are required. A wrong call is an answer that says what was
wrong and what is possible; nothing is done then.

| toolkit | for | tools | bytes |
|---|---|---|---|
"""

FORMS: Final = {
    ParameterType.TEXT: "text",
    ParameterType.WHOLE: "whole number",
    ParameterType.NUMBER: "number",
    ParameterType.FLAG: "true or false",
    ParameterType.TEXTS: "list of texts",
    ParameterType.OBJECT: "object",
    ParameterType.OBJECTS: "list of objects",
    ParameterType.MESSAGE: "number or id of a message",
    ParameterType.MESSAGES: "list of numbers or ids",
}


def page() -> str:
    """Return the page."""
    kits = [toolkit(name) for name in HOMES]
    rows = [f"| [{kit.name}](#{kit.name}) | {kit.about} | {len(kit.tools)} | {size(kit):,} |\n" for kit in kits]
    note = "\nBytes are those of all tools in a request to Anthropic, without spaces.\n"
    return "".join([HEAD, *rows, note, *(part for kit in kits for part in _toolkit(kit))])


def _toolkit(kit: Toolkit) -> Iterator[str]:
    yield f"\n## {kit.name}\n\n"
    yield "".join(f"> {line}\n" for line in kit.instructions.split("\n")) + "\n"
    yield f"A message is shown {_PRESENTATIONS[kit.presentation.value]}."
    if kit.capacity is not None:
        yield f" A session's inbox holds {kit.capacity.limit} messages ({kit.capacity.overflow})."
    yield "\n"
    for tool in kit.tools:
        yield from _tool(tool)


_PRESENTATIONS: Final = {"once": "once", "until_handled": "in every turn until it is handled"}


def _tool(tool: Tool) -> Iterator[str]:
    yield f"\n### {tool.name}\n\n{_escaped(tool.description)}\n"
    if tool.parameters:
        yield "\n| parameter | takes | is |\n|---|---|---|\n"
        for parameter in tool.parameters:
            required = "**" if parameter.is_required else ""
            takes = " or ".join(f"`{choice}`" for choice in parameter.choices) or FORMS[parameter.form]
            yield f"| {required}`{parameter.name}`{required} | {takes} | {_escaped(parameter.description)} |\n"


def _escaped(text: str) -> str:
    return text.replace("*", "\\*").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
