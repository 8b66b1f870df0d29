"""Tools in the formats of the providers, and their size in a model's context."""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from covey.core.errors import Invalid
from covey.core.json import Json, to_json
from covey.toolkits.catalogue import HOMES, toolkit
from covey.toolkits.schemas import FORMATS, anthropic, json_schema, mcp, openai_chat, openai_responses, schemas, size
from covey.toolkits.tool import Parameter, Tool

ALL = [tool for name in HOMES for tool in toolkit(name).tools]
NATIVE_LIMIT = 6000
"""Bytes, for a model with an expensive context; the limit includes the tools for tasks and children."""


def parameters(schema: Mapping[str, Json]) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], schema["properties"])


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_a_schema_describes_the_parameters_of_the_tool(tool: Tool) -> None:
    schema = json_schema(tool)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert list(parameters(schema)) == [parameter.name for parameter in tool.parameters]
    assert schema["required"] == [parameter.name for parameter in tool.parameters if parameter.is_required]
    for parameter in tool.parameters:
        described = parameters(schema)[parameter.name]
        assert described["description"] == parameter.description
        assert described["type"] in {"string", "integer", "number", "boolean", "array", "object"}
        assert described.get("enum", []) == list(parameter.choices)


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_each_provider_gets_its_own_envelope(tool: Tool) -> None:
    schema = json_schema(tool)
    about = {"name": tool.name, "description": tool.description}
    hints = {"readOnlyHint": tool.is_read_only, "destructiveHint": False, "openWorldHint": False}
    assert anthropic(tool) == {**about, "input_schema": schema}
    assert openai_chat(tool) == {"type": "function", "function": {**about, "parameters": schema}}
    assert openai_responses(tool) == {"type": "function", **about, "parameters": schema, "strict": False}
    assert mcp(tool) == {**about, "inputSchema": schema, "annotations": hints}


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_names_and_descriptions_are_valid_for_every_provider(tool: Tool) -> None:
    assert tool.name.isidentifier()
    assert len(tool.name) <= 64
    assert 0 < len(tool.description) <= 1024
    assert tool.description.endswith(".")
    names = [parameter.name for parameter in tool.parameters]
    assert len(names) == len(set(names))
    for parameter in tool.parameters:
        assert parameter.name.isidentifier()
        assert parameter.description


def test_only_a_parameter_with_custom_objects_has_a_custom_schema() -> None:
    own = [(tool.name, p.name) for tool in ALL for p in tool.parameters if p.schema is not None]
    assert own == [("send_message", "parts")]
    described = Parameter("parts", "all of it", schema={"type": "array"})
    tool = ALL[0]._replace(parameters=(described,))
    assert parameters(json_schema(tool)) == {"parts": {"type": "array", "description": "all of it"}}


def test_the_native_toolkit_is_small() -> None:
    assert size(toolkit("native")) == len(to_json(schemas(toolkit("native"))).encode())
    assert size(toolkit("native")) <= 4800 < NATIVE_LIMIT
    assert all(size(toolkit("native"), form) <= NATIVE_LIMIT for form in FORMATS)


def test_an_unknown_format_is_reported() -> None:
    with pytest.raises(Invalid, match="use openai"):
        schemas(toolkit("native"), "opena")
    with pytest.raises(Invalid, match="use anthropic or mcp or openai or openai-responses"):
        schemas(toolkit("native"), "telegram")
