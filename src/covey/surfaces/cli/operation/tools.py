"""The verb `tools`."""

from argparse import ArgumentParser
from typing import Final

from covey.surfaces.cli.call import Call, Verb
from covey.surfaces.cli.exits import DONE
from covey.toolkits.catalogue import DEFAULT, HOMES, toolkit
from covey.toolkits.schemas import DEFAULT_FORMAT, FORMATS, schemas, size
from covey.toolkits.tool import Tool, Toolkit


def _tools_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--toolkit",
        metavar="NAME[,NAME]",
        default=DEFAULT,
        help=f"which tools: {', '.join(HOMES)} (default {DEFAULT})",
    )
    parser.add_argument("--format", choices=list(FORMATS), help="write the JSON that this provider takes")


def _run_tools(call: Call) -> int:
    kit = toolkit(call.options.toolkit)
    form = call.options.format or DEFAULT_FORMAT
    if call.output.as_json or call.options.format:
        call.output.json(schemas(kit, form))
    else:
        _show(call, kit, form)
    return DONE


TOOLS: Final = Verb(
    arguments=_tools_arguments,
    run=_run_tools,
    description="""\
Show the tools of a toolkit, as a model is told of them, and how many bytes of its context they take. With --format or
--json: the JSON that a request declares them with. It needs no space.""",
    examples="""\
examples:
  covey tools
  covey tools --toolkit peers,broadcast
  covey tools --toolkit native --format openai > tools.json""",
)


def _show(call: Call, kit: Toolkit, form: str) -> None:
    call.output.table(
        ("tool", "bytes", "what it does"),
        [(tool.name, f"{size(kit._replace(tools=(tool,)), form) - BRACKETS:,}", _gist(tool)) for tool in kit.tools],
        "",
    )
    call.output.text()
    call.output.text(f"{kit.name} takes {size(kit, form):,} bytes in all.")
    others = [name for name in HOMES if name not in kit.name.split(",")]
    call.output.note(f"Others: {', '.join(others)}.")


BRACKETS = len("[]")


def _gist(tool: Tool) -> str:
    """Return the first sentence of a description."""
    return tool.description.partition(". ")[0].rstrip(".") + "."
